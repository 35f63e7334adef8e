#include "coordinator/spec_reader/spec_reader.h"

#include <gmock/gmock.h>

#include "coordinator/sweep/plan.h"

namespace leadline::spec_reader {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kHead[] = "leadline: 1\nname: a\nseeds: 2\n";

Reading Read(const std::string& text) {
  return ReadSweep(
      text, "/data/sweeps",
      [](const std::string& path,
         const std::string& tokenizer) -> absl::StatusOr<DataFacts> {
        return DataFacts{"hash of " + path + " as " + tokenizer, 65};
      });
}

sweep::Sweep ReadWell(const std::string& text) {
  const Reading reading = Read(text);
  for (const sweep::Problem& problem : reading.problems) {
    ADD_FAILURE() << ToText(problem, "f") << "\n" << text;
  }
  return reading.sweep;
}

std::vector<std::string> Faults(const std::string& text) {
  std::vector<std::string> faults;
  for (const sweep::Problem& problem : Read(text).problems) {
    faults.push_back(ToText(problem, "f"));
  }
  return faults;
}

/// A sweep whose learning rates are those forms.
std::string WithRates(const std::string& forms) {
  return std::string(kHead) + "axes:\n  lr: [" + forms +
         "]\n  method: [prenorm]\n  dataset: [iid27]\n";
}

TEST(ReadSweep, ReadsEveryPart) {
  const sweep::Sweep sweep = ReadWell(R"(
leadline: 1
name: depth study
description: Does routing help more with depth?
seeds: [0, 1, 42, 9223372036854775807]
settings:
  d_model: 64
  steps: 5000
axes:
  depth: [12, 24, 48]
  dataset: [text8, {path: corpus.txt, tokenizer: byte, split: [0.9, 0.05, 0.05]}]
  method: [prenorm, rezero, {name: layerscale, init: 1e-4}, block_attnres, {name: wav, rho: 2}]
  lr: [1e-3, 8e-4, 6e-4]
zip: [[depth, lr]]
exclude:
  - {depth: 48, method: rezero}
  - {depth: [12, 24], method: [wav, {name: layerscale, init: 1e-4}]}
when:
  - match: {method: wav}
    set: {blocks: 6}
limits: {parallel: 8, failures: 9, failures_in_row: 3, on_failures: finish}
priority: -5
contrasts: []
)");
  EXPECT_EQ(sweep.name, "depth study");
  EXPECT_EQ(sweep.seeds.count, 4);
  EXPECT_EQ(sweep.seeds.At(3), INT64_MAX);
  EXPECT_EQ(sweep.fixed.size(), 2u);
  ASSERT_EQ(sweep.axes.size(), 4u);
  const auto& file = std::get<spec::Dataset>(sweep.axes[1].values[1].value);
  EXPECT_EQ(file.path, "/data/sweeps/corpus.txt");
  EXPECT_EQ(file.name, "corpus");
  EXPECT_EQ(file.content_hash, "hash of /data/sweeps/corpus.txt as byte");
  EXPECT_EQ(file.vocabulary, 65);
  const auto& wav = std::get<sweep::Method>(sweep.axes[2].values[4].value);
  EXPECT_EQ(wav.name, "wav");
  EXPECT_EQ(wav.options.at(0).value, spec::Value(2.0)) << "typed by the table";
  EXPECT_EQ(sweep.zips.at(0).keys, (std::vector<std::string>{"depth", "lr"}));
  EXPECT_EQ(sweep.exclude.size(), 2u);
  EXPECT_EQ(sweep.exclude[1].match[1].values.size(), 2u);
  EXPECT_EQ(sweep.when.at(0).set.at(0).key, "blocks");
  EXPECT_EQ(sweep.limits.parallel, 8);
  EXPECT_EQ(sweep.limits.failures, 9);
  EXPECT_EQ(sweep.limits.failures_in_row, 3);
  EXPECT_EQ(sweep.limits.on_failures, OnFailures::kFinish);
  EXPECT_EQ(sweep.priority, -5);
}

TEST(ReadSweep, TakesJson) {
  const sweep::Sweep json = ReadWell(
      R"({"leadline": 1, "name": "a", "seeds": 2, "axes": {"lr": [1e-3],)"
      R"( "method": ["prenorm"], "dataset": ["iid27"]}})");
  EXPECT_EQ(sweep::CanonicalHash(json),
            sweep::CanonicalHash(ReadWell(WithRates("0.001"))));
}

TEST(ReadSweep, TakesTheCommonFormsOfNumbersAndNoOthers) {
  const std::string hash = sweep::CanonicalHash(ReadWell(WithRates("0.0001")));
  for (const char* form : {"1e-4", "1E-04", ".0001", "1.0e-4"}) {
    EXPECT_EQ(sweep::CanonicalHash(ReadWell(WithRates(form))), hash) << form;
  }
  for (const char* form :
       {"\"1e-4\"", "'1e-4'", "0x10", "1_000", "yes", "true", "null", "~",
        "1e-4 # x\n, y", "+1", "1e", "1,0.5e", "[1e-4]", "{a: 1}", "1 e-4"}) {
    EXPECT_THAT(Faults(WithRates(form)), testing::Not(testing::IsEmpty()))
        << form;
  }
}

TEST(ReadSweep, ShowsTheTextAsItArrived) {
  EXPECT_THAT(Faults(WithRates("\"1e-4\"")),
              ElementsAre("f:5:8: lr: found the quoted text \"1e-4\", expected "
                          "a number above 0 up to 10"));
  EXPECT_THAT(Faults(WithRates("1e-4x")),
              ElementsAre(HasSubstr("found 1e-4x, expected")));
}

TEST(ReadSweep, ReportsAllFaultsAtOnceInOrder) {
  EXPECT_THAT(Faults(R"(leadline: 2
seeds: [1, 1, -4]
settings: {d_model: 0x20, n_haeds: 2, precision: fp16}
axes:
  depth: [2, 0]
  method: [prenorm, {name: rezero, rho: 2}, wave]
  lr: []
zip: [[lr, steps]]
exclude: [{clip: 1}]
when: [{match: {depth: 2}}]
priority: high
)"),
              ElementsAre(HasSubstr("f:1:1: no dataset"), HasSubstr("f:1:11: "),
                          HasSubstr("f:2:12: "), HasSubstr("f:2:15: "),
                          HasSubstr("f:3:21: "), HasSubstr("f:3:27: "),
                          HasSubstr("f:3:50: "), HasSubstr("f:5:14: "),
                          HasSubstr("f:6:36: "), HasSubstr("f:6:45: "),
                          HasSubstr("f:7:3: "), HasSubstr("f:8:7: "),
                          HasSubstr("f:9:12: "), HasSubstr("f:10:8: "),
                          HasSubstr("f:11:11: ")));
}

TEST(ReadSweep, EndsItsListOfFaultsSomewhere) {
  std::string text = WithRates("x");
  text.insert(text.find('x'), std::string(50'000, ' '));
  std::string many;
  for (int i = 0; i < 50'000; ++i) many += "x, ";
  EXPECT_THAT(Faults(WithRates(many + "x")), testing::SizeIs(101));
  EXPECT_THAT(Faults(WithRates(many + "x")).back(),
              HasSubstr("and 49901 more problems"));
}

TEST(ReadSweep, LooksIntoAFileOnce) {
  int looks = 0;
  const auto inspect = [&](const std::string&,
                           const std::string&) -> absl::StatusOr<DataFacts> {
    ++looks;
    return absl::NotFoundError("cannot read it");
  };
  const Reading reading =
      ReadSweep(std::string(kHead) +
                    "axes:\n  method: [prenorm]\n  dataset:\n    - {path: "
                    "a.txt}\n    - {path: ./b/../a.txt, split: [0.8, 0.1, 0.1]}"
                    "\n    - {path: /data/a.txt}\n",
                "/data", inspect);
  EXPECT_EQ(looks, 1);
  EXPECT_EQ(reading.problems.size(), 3u);
}

TEST(ReadSweep, KeepsADatasetNameWhole) {
  EXPECT_THAT(Faults(std::string(kHead) +
                     "axes:\n  method: [prenorm]\n  dataset: [\"a,b\"]\n"),
              ElementsAre(HasSubstr("found the quoted text \"a,b\"")));
}

TEST(ReadSweep, SurvivesEveryCutOfAGoodFile) {
  const std::string text =
      std::string(kHead) +
      "axes:\n  depth: [2, \"4\"]\n  method: [{name: wav, rho: 2}]\n"
      "  dataset: [{path: \"größe.txt\"}]\nwhen:\n  - match: {depth: 2}\n"
      "    set: {lr: 1e-3}\n";
  for (size_t length = 0; length < text.size(); ++length) {
    const Reading reading = Read(text.substr(0, length));
    for (const sweep::Problem& problem : reading.problems) {
      EXPECT_GE(problem.at.line, 1) << length;
      EXPECT_GE(problem.at.column, 1) << length;
    }
    if (reading.ok()) sweep::MakePlan(reading.sweep);
  }
}

TEST(ReadSweep, SurvivesBytesThatWereChanged) {
  const std::string text =
      std::string(kHead) +
      "axes:\n  depth: [2, 4]\n  method: [{name: wav, rho: 2}, prenorm]\n"
      "  dataset: [iid27]\nexclude:\n  - {depth: [2]}\n";
  for (size_t i = 0; i < text.size(); ++i) {
    for (const char c : std::string("&*!|>'\"%@`{}[],:?-#\n\t\x01\x80 0")) {
      std::string changed = text;
      changed[i] = c;
      const Reading reading = Read(changed);
      if (reading.ok()) sweep::MakePlan(reading.sweep);
    }
  }
}

}  // namespace
}  // namespace leadline::spec_reader
