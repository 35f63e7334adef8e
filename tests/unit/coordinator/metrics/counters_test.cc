#include "coordinator/metrics/counters.h"

#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include "coordinator/metrics/bounds.h"
#include "page.h"

namespace leadline::metrics {
namespace {

const Known kKnown = {{"SweepService/Submit"}, {"/metrics"}};

std::map<std::string, double> Series(const Counters& counters) {
  return SeriesOf(prometheus::TextSerializer().Serialize(counters.Collect()));
}

TEST(CountersTest, EveryOutcomeAndKindBeginsAtZero) {
  Counters counters(kKnown);
  auto series = Series(counters);
  for (const FailureKind kind : kFailureKinds) {
    EXPECT_EQ(series.count("leadline_attempts_total{kind=\"" +
                           std::string(Name(kind)) + "\",outcome=\"failed\"}"),
              1u);
  }
  EXPECT_EQ(series["leadline_points_total{result=\"late\"}"], 0);
  counters.CountAttempt(AttemptOutcome::kFailed, FailureKind::kOom);
  counters.CountAttempt(AttemptOutcome::kSucceeded, std::nullopt);
  series = Series(counters);
  EXPECT_EQ(series["leadline_attempts_total{kind=\"oom\",outcome=\"failed\"}"],
            1);
  EXPECT_EQ(
      series["leadline_attempts_total{kind=\"none\",outcome=\"succeeded\"}"],
      1);
}

TEST(CountersTest, EachFateOfAPointMovesItsOwnCounter) {
  Counters counters(kKnown);
  const std::vector<std::pair<PointFate, std::string>> fates = {
      {PointFate::kStored, "stored"},
      {PointFate::kOverwritten, "overwritten"},
      {PointFate::kRepeated, "repeated"},
      {PointFate::kLate, "late"},
      {PointFate::kDropped, "dropped"}};
  for (const auto& [fate, word] : fates) {
    counters.CountPoints(fate, 7);
    const auto series = Series(counters);
    EXPECT_EQ(series.at("leadline_points_total{result=\"" + word + "\"}"), 7);
  }
  EXPECT_EQ(SumOf(Series(counters), "leadline_points_total"), 35);
}

TEST(CountersTest, WhatIsNotKnownIsOther) {
  Counters counters(kKnown);
  counters.ObserveCall("SweepService/Submit", "OK", 0.003);
  counters.CountRequest("/metrics", 200);
  for (int i = 0; i < 1000; ++i) {
    counters.ObserveCall("X/" + std::to_string(i), "UNIMPLEMENTED", 0.003);
    counters.CountRequest("/" + std::to_string(i), 404);
  }
  auto series = Series(counters);
  EXPECT_EQ(series["leadline_rpc_seconds_count{code=\"OK\",method="
                   "\"SweepService/Submit\"}"],
            1);
  EXPECT_EQ(series["leadline_rpc_seconds_count{code=\"UNIMPLEMENTED\",method="
                   "\"other\"}"],
            1000);
  EXPECT_EQ(
      series["leadline_http_requests_total{code=\"404\",route=\"other\"}"],
      1000);
  EXPECT_LT(series.size(), 100u);
}

TEST(CountersTest, NodesBeyondTheBoundShareOneSeries) {
  Counters counters(kKnown);
  for (size_t i = 0; i < kMostNodes + 50; ++i) {
    counters.CountTokens("node" + std::to_string(i), 2);
    counters.CountTokens("node" + std::to_string(i), 1);
  }
  auto series = Series(counters);
  EXPECT_EQ(series["leadline_tokens_total{node=\"node0\"}"], 3);
  EXPECT_EQ(series["leadline_tokens_total{node=\"other\"}"], 150);
  EXPECT_EQ(SumOf(series, "leadline_tokens_total"), 3.0 * (kMostNodes + 50));
}

TEST(CountersTest, LongAndOddNamesAreCutAndEscaped) {
  Counters counters(kKnown);
  std::string name = "a\"\\\n";
  for (int i = 0; i < 100; ++i) name += "é";
  counters.CountTokens(name, 1);
  const std::string page =
      prometheus::TextSerializer().Serialize(counters.Collect());
  const size_t at = page.find("leadline_tokens_total{node=\"a\\\"\\\\\\né");
  ASSERT_NE(at, std::string::npos);
  EXPECT_LT(page.find('\n', at) - at, 150u);
}

TEST(CountersTest, PagesAreMadeWhileOthersCount) {
  Counters counters(kKnown);
  std::vector<std::jthread> threads;
  constexpr int kRounds = 2000;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&counters, t] {
      for (int i = 0; i < kRounds; ++i) {
        counters.CountTokens("node" + std::to_string(i % 300), 1);
        counters.ObserveCall("SweepService/Submit", t % 2 ? "OK" : "ABORTED",
                             0.01);
        counters.CountPoints(PointFate::kStored, 1);
      }
    });
  }
  for (int i = 0; i < 50; ++i) counters.Collect();
  threads.clear();
  EXPECT_EQ(Series(counters).at("leadline_points_total{result=\"stored\"}"),
            4 * kRounds);
}

}  // namespace
}  // namespace leadline::metrics
