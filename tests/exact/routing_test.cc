// X6, X11, X12, X13 for every method with routers: what its sources and weights
// are, as an observer sees them.

#include <cmath>

#include "model/router/source_name.h"
#include "tests/exact/pass_bench.h"
#include "tests/exact/variants.h"
#include "tests/exact/world.h"

namespace leadline::exact {
namespace {

using model::ReadSourceName;
using model::RouteRecord;
using torch::Tensor;

class Routing : public testing::TestWithParam<Case> {
 protected:
  const Case& c() const { return GetParam(); }
  spec::Settings Settings() const { return SettingsOf(c().variant, c().depth); }
};

TEST_P(Routing, X6SourcesSumToTheStreamWhereTheStartIsPreNorm) {
  if (!EqualsPreNormAtStart(c().variant)) return;
  Bench bench(Settings(), c().replicas);
  const Tensor e = bench.Random(1);
  const std::vector<Tensor> updates = bench.RandomUpdates();
  const Recorder seen = bench.Run(e, updates);
  std::vector<Tensor> stream = {e};
  for (const Tensor& u : updates) stream.push_back(stream.back() + u);
  for (const RouteRecord& record : seen.records) {
    Tensor sum = torch::zeros_like(e);
    for (size_t j = 0; j < record.labels.size(); ++j) {
      if (ReadSourceName(record.labels[j]).kind != model::SourceKind::kNull)
        sum = sum + record.sources_RBTD[j];
    }
    EXPECT_LE(Error(sum, stream.at(record.router)), 1e-12) << record.router;
  }
}

/// Runs with queries far from zero, so that no weight is a special one.
Recorder RunShaken(const Case& c) {
  Bench bench(SettingsOf(c.variant, c.depth), c.replicas);
  bench.SetQueries(0.5);
  return bench.Run(bench.Random(1), bench.RandomUpdates());
}

TEST_P(Routing, X13WeightsOfEveryRouterAreNotNegativeAndSumToOne) {
  for (const RouteRecord& record : RunShaken(c()).records) {
    const Tensor& a = record.weights_JRBT;
    EXPECT_EQ(a.size(0), static_cast<int64_t>(record.labels.size()));
    EXPECT_TRUE(a.ge(0).all().item<bool>()) << record.router;
    EXPECT_LE((a.sum(0) - 1).abs().max().item<double>(), 1e-12)
        << record.router;
  }
}

TEST_P(Routing, X11DetailMassAtTheStartFollowsFromTheBias) {
  const spec::Settings settings = Settings();
  if (!settings.Has("detail_bias")) return;
  const double beta = settings.NumberUnlessWord("detail_bias").value_or(0);
  if (settings.Number("router_init_std") > 0) return;
  Bench bench(settings, c().replicas);
  const Recorder seen = bench.Run(bench.Random(1), bench.RandomUpdates());
  for (const RouteRecord& record : seen.records) {
    double details = 0;
    Tensor mass_RBT = torch::zeros_like(record.weights_JRBT[0]);
    for (size_t j = 0; j < record.labels.size(); ++j) {
      if (!ReadSourceName(record.labels[j]).detail()) continue;
      details += std::exp(beta);
      mass_RBT = mass_RBT + record.weights_JRBT[static_cast<int64_t>(j)];
    }
    const auto all = static_cast<double>(record.labels.size());
    const double plain = all - details / std::exp(beta);
    EXPECT_LE(
        (mass_RBT - details / (plain + details)).abs().max().item<double>(),
        1e-12)
        << record.router;
  }
}

TEST_P(Routing, X12TheReadoutSeesNoDetails) {
  const Recorder seen = RunShaken(c());
  if (seen.records.empty()) return;
  const RouteRecord& last = seen.records.back();
  if (last.router != 2 * c().depth) return;  // none before the final norm
  for (const std::string& label : last.labels) {
    EXPECT_FALSE(ReadSourceName(label).detail()) << label;
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, Routing, testing::ValuesIn(Cases()),
                         [](const auto& info) { return NameOf(info.param); });

}  // namespace
}  // namespace leadline::exact
