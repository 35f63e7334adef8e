#include "model/probes/routing_probe.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leadline::model {
namespace {

using ::testing::ElementsAre;

/// Two replicas, one sequence of two tokens. Replica 0 looks at one source a
/// token, replica 1 at all of them alike.
RouteRecord OneAgainstAll(const std::vector<std::string>& labels,
                          int64_t router = 0) {
  const auto sources = static_cast<int64_t>(labels.size());
  torch::Tensor a_JRBT = torch::zeros({sources, 2, 1, 2});
  a_JRBT[0][0][0][0] = 1;
  a_JRBT[1][0][0][1] = 1;
  a_JRBT.select(1, 1).fill_(1.0 / static_cast<double>(sources));
  return {.router = router, .labels = labels, .weights_JRBT = a_JRBT};
}

/// The element of that figure in each of two replicas.
std::vector<double> At(const FigureTable& table, const std::string& name,
                       size_t index = 0) {
  const auto figures = table.Read(2);
  return {figures[0].at(name).at(index), figures[1].at(name).at(index)};
}

TEST(RoutingProbe, FiguresAreMeansOverTokensOfEachReplica) {
  FigureTable table;
  RoutingProbe probe(4, table);
  probe.OnRoute(OneAgainstAll({"e", "C0", "Dphi0", "Dsig0"}, 5));
  const auto maps = probe.Finish(2);
  EXPECT_THAT(maps[0][5].weights, ElementsAre(0.5, 0.5, 0, 0));
  EXPECT_THAT(maps[1][5].weights, ElementsAre(0.25, 0.25, 0.25, 0.25));
  EXPECT_THAT(At(table, "route.max_weight", 5), ElementsAre(1, 0.25));
  EXPECT_EQ(At(table, "route.entropy", 5)[0], 0);
  EXPECT_NEAR(At(table, "route.entropy", 5)[1], std::log(4.0), 1e-12);
  EXPECT_NEAR(At(table, "route.effective_sources", 5)[1], 4, 1e-12);
  EXPECT_NEAR(At(table, "route.effective_sources_frac", 5)[0], 0.25, 1e-12);
  EXPECT_THAT(At(table, "route.tv_uniform", 5), ElementsAre(0.75, 0));
  EXPECT_THAT(At(table, "route.embedding_mass", 5), ElementsAre(0.5, 0.25));
  EXPECT_THAT(At(table, "route.last_mass", 5), ElementsAre(0.5, 0.25));
  EXPECT_THAT(At(table, "route.partial_mass", 5), ElementsAre(0, 0));
  // e is 5 old, block 0 and its details 1.
  EXPECT_THAT(At(table, "route.lookback", 5), ElementsAre(3, 2));
}

TEST(RoutingProbe, DetailMassIsTheSumOfItsFourParts) {
  FigureTable table;
  RoutingProbe probe(4, table);
  probe.OnRoute(
      OneAgainstAll({"e", "C0", "Dphi0", "Dsig0", "P", "Pphi", "Psig", "u0"}));
  EXPECT_EQ(At(table, "route.detail_mass")[1], 4.0 / 8);
  for (const char* part :
       {"phase_finished", "phase_partial", "split_finished", "split_partial"}) {
    EXPECT_EQ(At(table, std::string("route.detail_mass.") + part)[1], 1.0 / 8)
        << part;
  }
  EXPECT_EQ(At(table, "route.partial_mass")[1], 1.0 / 8);
}

TEST(RoutingProbe, ANullSourceIsNeitherNewestNorOld) {
  FigureTable table;
  RoutingProbe probe(1, table);
  probe.OnRoute(OneAgainstAll({"null", "e", "u0"}, 1));
  EXPECT_THAT(At(table, "route.null_mass", 1),
              ElementsAre(0.5, testing::DoubleNear(1.0 / 3, 1e-7)));
  EXPECT_EQ(At(table, "route.last_mass", 1)[0], 0);
  EXPECT_EQ(At(table, "route.lookback", 1)[0], 0.5);
}

TEST(RoutingProbe, FiguresOfHeadsAreThereWhereThereAreHeads) {
  FigureTable table;
  RoutingProbe probe(1, table);
  RouteRecord record = OneAgainstAll({"e", "u0"}, 1);
  // The second head does the opposite of the first in both replicas.
  const torch::Tensor one = record.weights_JRBT;
  record.head_weights_JRBTG =
      torch::stack({one, torch::full_like(one, 0.5)}, 4);
  record.weights_JRBT = record.head_weights_JRBTG.mean(-1);
  probe.OnRoute(record);
  EXPECT_THAT(At(table, "route.max_weight", 1), ElementsAre(0.75, 0.5));
  EXPECT_THAT(At(table, "route.max_weight.head0", 1), ElementsAre(1, 0.5));
  EXPECT_THAT(At(table, "route.max_weight.head1", 1), ElementsAre(0.5, 0.5));
  EXPECT_NEAR(At(table, "route.entropy", 1)[0], std::log(2.0) / 2, 1e-12);
  EXPECT_EQ(At(table, "route.entropy.head0", 1)[0], 0);
  EXPECT_THAT(probe.Finish(2)[0][1].weights, ElementsAre(0.5, 0.5));
}

TEST(RoutingProbe, RoutersKeepTheirNumbersAndRaggedRows) {
  FigureTable table;
  RoutingProbe probe(4, table);
  probe.OnRoute(OneAgainstAll({"e", "P"}, 1));
  probe.OnRoute(OneAgainstAll({"e", "C0", "P"}, 2));
  const auto maps = probe.Finish(2);
  ASSERT_EQ(maps[1].size(), 3U);
  EXPECT_TRUE(maps[1][0].sources.empty());
  EXPECT_THAT(maps[1][1].sources, ElementsAre("e", "P"));
  EXPECT_EQ(maps[1][2].weights.size(), 3U);
  EXPECT_TRUE(std::isnan(At(table, "route.entropy", 0)[0]));
  EXPECT_FALSE(table.Read(2)[0].contains("route.detail_mass"));
  EXPECT_FALSE(table.Read(2)[0].contains("route.null_mass"));
}

TEST(RoutingProbe, AMethodWithoutRoutersHasEmptyMaps) {
  FigureTable table;
  RoutingProbe probe(1, table);
  EXPECT_TRUE(probe.Finish(3)[2].empty());
  EXPECT_TRUE(table.Read(3)[2].empty());
}

}  // namespace
}  // namespace leadline::model
