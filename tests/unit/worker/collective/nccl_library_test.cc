#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/worker/collective/nccl_world.h"
#include "worker/collective/nccl/library.h"
#include "worker/collective/ring/collective_error.h"

namespace leadline::collective::nccl {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

std::string WhyNot(const std::string& name) {
  try {
    const Library library(name);
  } catch (const SetUpError& error) {
    return error.what();
  }
  return "opened";
}

TEST(NcclLibrary, OneThatIsMissingIsNamed) {
  EXPECT_THAT(WhyNot("libnccl_of_no_machine.so.2"),
              AllOf(HasSubstr("NCCL cannot be opened"),
                    HasSubstr("libnccl_of_no_machine.so.2"),
                    EndsWith("scripts/setup --cuda brings one")));
}

TEST(NcclLibrary, MissingFunctionIsNamed) {
  EXPECT_THAT(WhyNot(PartialLibrary()),
              AllOf(HasSubstr("libpartial_nccl.so"),
                    HasSubstr("lacks ncclGetUniqueId")));
}

TEST(NcclLibrary, OneOfBeforeSetUpWithoutBlockingIsRefused) {
  Fake().Reset();
  Fake().SetVersion(21399);
  EXPECT_THAT(WhyNot(FakeLibrary()), HasSubstr("is 2.13.99, and must be 2.14"));
  Fake().SetVersion(2804);
  EXPECT_THAT(WhyNot(FakeLibrary()), HasSubstr("is 2.8.4, and must be 2.14"));
  Fake().SetVersion(21400);
  EXPECT_EQ(WhyNot(FakeLibrary()), "opened");
}

TEST(NcclLibrary, VersionReadsAsNvidiaWritesIt) {
  Fake().Reset();
  EXPECT_EQ(VersionText(Library(FakeLibrary()).version()), "2.28.9");
}

TEST(NcclLibrary, ErrorsAreExplainedWithTheirNameAndWhatNcclSays) {
  Fake().Reset();
  const Library library(FakeLibrary());
  EXPECT_EQ(library.Explain(Result::kSystemError),
            "unhandled system error (ncclSystemError); NCCL says: the words of "
            "the fake");
  EXPECT_THAT(library.Explain(static_cast<Result>(42)),
              HasSubstr("(result 42)"));
}

#ifdef LEADLINE_REAL_NCCL
TEST(NcclLibrary, TheRealOneHasAllThatRanksNeed) {
  const Library library(LEADLINE_REAL_NCCL);
  EXPECT_GE(library.version(), kOldestVersion);
  EXPECT_THAT(library.Explain(Result::kRemoteError),
              HasSubstr("(ncclRemoteError)"));
}
#endif

}  // namespace
}  // namespace leadline::collective::nccl
