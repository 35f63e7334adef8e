#include <gmock/gmock.h>

#include "tests/unit/coordinator/sweep/sweep_text.h"

namespace leadline::sweep {
namespace {

TEST(CanonicalText, IsTypedAndSorted) {
  EXPECT_EQ(
      CanonicalText(SweepOf("name: a\nseeds: [0, 1]\n"
                            "settings: {steps: 10, lr: 1}\n"
                            "axes:\n"
                            "  method: [prenorm, {name: wav, rho: 2}]\n"
                            "  dataset: [{path: a.txt}]\n"
                            "exclude: [{method: wav, lr: 1.0}]\n"
                            "when: [{match: {method: wav}, set: {clip: "
                            "off}}]\n"
                            "limits: {parallel: 3}\n")),
      R"({"axes":[["method",[{"name":"prenorm","options":{}},)"
      R"({"name":"wav","options":{"rho":2.0}}]],)"
      R"(["dataset",[{"content_hash":"hash of /data/a.txt",)"
      R"("split":[0.9,0.05,0.05],"tokenizer":"char"}]]],)"
      R"("exclude":[{"lr":[1.0],"method":[{"name":"wav","options":{}}]}],)"
      R"("leadline":1,"limits":{"parallel":3},"priority":0,"seeds":2,)"
      R"("settings":{"lr":[1.0],"steps":[10]},)"
      R"("when":[{"match":{"method":[{"name":"wav","options":{}}]},)"
      R"("set":{"clip":"off"}}],"zip":[]})");
}

TEST(CanonicalText, PolicyOfFailuresIsThereUnlessItIsTheDefault) {
  const std::string start =
      "name: a\nseeds: 1\naxes: {method: [prenorm], dataset: [iid27]}\n";
  const auto text = [&](const std::string& limits) {
    return CanonicalText(SweepOf(start + "limits: " + limits + "\n"));
  };
  EXPECT_THAT(text("{failures: 3, failures_in_row: 2, on_failures: finish}"),
              testing::HasSubstr(R"("limits":{"failures":3,)"
                                 R"("failures_in_row":2,)"
                                 R"("on_failures":"finish"})"));
  EXPECT_EQ(text("{failures: 3, on_failures: stop}"), text("{failures: 3}"));
}

TEST(CanonicalHash, DoesNotDependOnSpellingOrOrderOfKeys) {
  const std::string plain = CanonicalHash(SweepOf(
      "name: a\nseeds: 2\nsettings:\n  lr: 1e-3\n  steps: 5\naxes:\n"
      "  depth: [2, 4]\n  d_model: [32, 64]\n  method: [{name: wav, rho: 2, "
      "detail_bias: -1}]\n  dataset: [iid27]\nzip: [[depth, d_model]]\n"
      "exclude: [{depth: 2, d_model: 64}]\n"));
  EXPECT_EQ(
      CanonicalHash(SweepOf(
          "zip:\n- [d_model, depth]\nexclude:\n- {d_model: 64, depth: [2]}\n"
          "axes:\n  depth:\n  - 2\n  - 4\n  d_model: [32, 64]\n  method: "
          "[{detail_bias: -1.0, name: wav, rho: 2.0}]\n  dataset: [\"iid27\"]\n"
          "settings: {steps: 5, lr: .001}\nseeds: [0, 1]\nname: other\n"
          "description: another\n")),
      plain);
}

TEST(CanonicalHash, DependsOnEverythingElse) {
  const std::string base =
      "seeds: 2\nsettings: {lr: 1e-3}\naxes:\n  depth: [2, 4]\n"
      "  method: [prenorm]\n  dataset: [iid27]\n";
  const std::string hash = CanonicalHash(SweepOf(base));
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = base;
    text.replace(text.find(from), from.size(), to);
    return CanonicalHash(SweepOf(text));
  };
  EXPECT_NE(changed("seeds: 2", "seeds: 3"), hash);
  EXPECT_NE(changed("seeds: 2", "seeds: [1, 0]"), hash);
  EXPECT_NE(changed("[2, 4]", "[4, 2]"), hash) << "the order of a listing";
  EXPECT_NE(changed("1e-3", "2e-3"), hash);
  EXPECT_NE(changed("iid27", "recall"), hash);
  EXPECT_NE(changed("seeds: 2", "seeds: 2\npriority: 1"), hash);
}

}  // namespace
}  // namespace leadline::sweep
