#include "model/probes/routing_probe.h"

#include <cmath>

#include <gtest/gtest.h>

namespace leadline::model {
namespace {

/// Two replicas, one sequence of two tokens. Replica 0 looks at one source a
/// token, replica 1 at all of them alike.
RouteRecord OneAgainstAll(const std::vector<std::string>& labels) {
  const auto sources = static_cast<int64_t>(labels.size());
  torch::Tensor a_JRBT = torch::zeros({sources, 2, 1, 2});
  a_JRBT[0][0][0][0] = 1;
  a_JRBT[1][0][0][1] = 1;
  a_JRBT.select(1, 1).fill_(1.0 / static_cast<double>(sources));
  return {.router = 0, .labels = labels, .weights_JRBT = a_JRBT};
}

TEST(RoutingProbe, FiguresAreMeansOverTokensOfEachReplica) {
  RoutingProbe probe(2);
  probe.OnRoute(OneAgainstAll({"e", "C0", "Dphi0", "Dsig0"}));
  const RoutingSummary& sharp = probe.summaries()[0];
  const RoutingSummary& flat = probe.summaries()[1];
  EXPECT_EQ(sharp.map[0].weights, (std::vector<double>{0.5, 0.5, 0, 0}));
  EXPECT_EQ(flat.map[0].weights, (std::vector<double>{0.25, 0.25, 0.25, 0.25}));
  EXPECT_EQ(sharp.statistics.at("route.max_weight")[0], 1);
  EXPECT_EQ(flat.statistics.at("route.max_weight")[0], 0.25);
  EXPECT_EQ(sharp.statistics.at("route.entropy")[0], 0);
  EXPECT_NEAR(flat.statistics.at("route.entropy")[0], std::log(4.0), 1e-12);
  EXPECT_EQ(sharp.statistics.at("route.embedding_mass")[0], 0.5);
}

TEST(RoutingProbe, DetailMassIsTheSumOfItsFourParts) {
  RoutingProbe probe(2);
  probe.OnRoute(
      OneAgainstAll({"e", "C0", "Dphi0", "Dsig0", "P", "Pphi", "Psig", "x"}));
  const auto& flat = probe.summaries()[1].statistics;
  EXPECT_EQ(flat.at("route.detail_mass")[0], 4.0 / 8);
  for (const char* part :
       {"phase_finished", "phase_partial", "split_finished", "split_partial"}) {
    EXPECT_EQ(flat.at(std::string("route.detail_mass.") + part)[0], 1.0 / 8)
        << part;
  }
}

TEST(RoutingProbe, RoutersKeepTheirOrderAndRaggedRows) {
  RoutingProbe probe(2);
  probe.OnRoute(OneAgainstAll({"e", "P"}));
  probe.OnRoute(OneAgainstAll({"e", "C0", "P"}));
  ASSERT_EQ(probe.summaries()[1].map.size(), 2u);
  EXPECT_EQ(probe.summaries()[1].map[0].sources,
            (std::vector<std::string>{"e", "P"}));
  EXPECT_EQ(probe.summaries()[1].map[1].weights.size(), 3u);
  EXPECT_EQ(probe.summaries()[1].statistics.at("route.entropy").size(), 2u);
}

TEST(RoutingProbe, AMethodWithoutRoutersHasEmptyMaps) {
  const RoutingProbe probe(3);
  EXPECT_EQ(probe.summaries().size(), 3u);
  EXPECT_TRUE(probe.summaries()[0].map.empty());
}

}  // namespace
}  // namespace leadline::model
