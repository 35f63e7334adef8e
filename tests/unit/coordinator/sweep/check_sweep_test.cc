// What a sweep value must fulfil even where no reader made it. The messages of
// files are in tests/data/bad.

#include "coordinator/sweep/check_sweep.h"

#include <gmock/gmock.h>

#include "coordinator/sweep/plan.h"
#include "tests/unit/coordinator/sweep/sweep_text.h"

namespace leadline::sweep {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kSmall[] =
    "seeds: 2\naxes:\n  depth: [2, 4]\n  method: [prenorm, wav]\n"
    "  dataset: [iid27]\n";

TEST(CheckSweep, PassesAGoodOne) {
  EXPECT_THAT(CheckSweep(SweepOf(kSmall)), IsEmpty());
}

TEST(CheckSweep, FindsWhatIsMissingInAnEmptyValue) {
  EXPECT_THAT(CheckSweep({}), testing::SizeIs(3)) << "method, dataset, seeds";
  EXPECT_FALSE(MakePlan({}).ok());
}

TEST(CheckSweep, RefusesKeysAndMethodsThatDoNotExist) {
  Sweep sweep = SweepOf(kSmall);
  sweep.axes.push_back({"colour", {{spec::Value("red"), {}}}, {}});
  sweep.axes[1].values.push_back({Method{"magic", {}}, {}});
  EXPECT_THAT(CheckSweep(sweep),
              Contains(Field(&Problem::message, HasSubstr("colour"))));
  EXPECT_THAT(CheckSweep(sweep),
              Contains(Field(&Problem::message, HasSubstr("magic"))));
}

TEST(CheckSweep, PassesOverWhatCouldNotBeRead) {
  Sweep sweep = SweepOf(kSmall);
  sweep.axes[1].values.push_back({});
  EXPECT_THAT(CheckSweep(sweep), IsEmpty());
  EXPECT_FALSE(MakePlan(sweep).ok());
}

TEST(CheckSweep, AllowsOptionsThatSomeMethodHas) {
  EXPECT_THAT(CheckSweep(SweepOf(std::string(kSmall) +
                                 "settings: {rho: 2, detail_bias: -1}\n")),
              IsEmpty());
}

TEST(CheckSweep, RefusesMoreRulesThanCanBeCounted) {
  Sweep sweep = SweepOf(kSmall);
  for (int i = 0; i < 257; ++i) {
    sweep.exclude.push_back(
        {{{"depth", {{spec::Value(int64_t{2}), {}}}, {}}}, {}});
  }
  EXPECT_THAT(CheckSweep(sweep), testing::SizeIs(1));
}

}  // namespace
}  // namespace leadline::sweep
