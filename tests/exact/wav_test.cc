// X5 to X12: block sums and their details, driven with chosen updates.

#include <cmath>

#include "model/probes/routing_probe.h"
#include "model/router/route.h"
#include "tests/exact/pass_bench.h"
#include "tests/exact/world.h"

namespace leadline::exact {
namespace {

using model::Decoder;
using torch::Tensor;

spec::Settings Wav(int64_t depth, int64_t s, spec::GivenSettings extra = {}) {
  extra["block_sublayers"] = s;
  return Small("wav", depth, extra);
}

class Blocks : public testing::TestWithParam<std::tuple<int64_t, int64_t>> {
 protected:
  int64_t replicas() const { return std::get<0>(GetParam()); }
  int64_t s() const { return std::get<1>(GetParam()); }
};

TEST_P(Blocks, X5WithoutDetailsWavIsBlockAttnResBitForBit) {
  const Text text = RandomText(replicas());
  for (const auto& type : {Floats(), Doubles()}) {
    const Decoder plain(Small("block_attnres", 7, {{"block_sublayers", s()}}),
                        kVocabulary, SomeSeeds(replicas()), type);
    Shake(plain, 0.2);
    const PassResult expected = RunPass(plain, text);
    for (const spec::GivenSettings& off : std::vector<spec::GivenSettings>{
             {{"details", std::string("off")}},
             {{"detail_bias", std::string("-inf")}}}) {
      const Decoder wav(Wav(7, s(), off), kVocabulary, SomeSeeds(replicas()),
                        type);
      CopyShared(plain, wav);
      const PassResult result = RunPass(wav, text);
      EXPECT_TRUE(torch::equal(result.logits_RBTV, expected.logits_RBTV));
      for (const auto& [name, gradient] : expected.gradients) {
        EXPECT_TRUE(torch::equal(result.gradients.at(name), gradient)) << name;
      }
    }
  }
}

TEST_P(Blocks, X6SourcesOfBlockAttnResSumToTheStream) {
  Bench bench(Small("block_attnres", 7, {{"block_sublayers", s()}}),
              replicas());
  const Tensor e = bench.Random(1);
  const std::vector<Tensor> updates = bench.RandomUpdates();
  const Recorder seen = bench.Run(e, updates);
  Tensor stream = e;
  for (int64_t q = 0; q <= bench.sublayers(); ++q) {
    Tensor sum = torch::zeros_like(e);
    for (const Tensor& v : seen.records.at(q).sources_RBTD) sum = sum + v;
    EXPECT_LE(Error(sum, stream), 1e-12) << q;
    if (q < bench.sublayers()) stream = stream + updates[q];
  }
}

TEST_P(Blocks, X7DetailsGiveBackTheHalvesOfTheirBlock) {
  Bench bench(Wav(7, s()), replicas());
  const std::vector<Tensor> updates = bench.RandomUpdates();
  const Recorder seen = bench.Run(bench.Random(1), updates);
  const int64_t last = bench.sublayers() - 1;
  for (int64_t b = 0; (b + 1) * s() <= last; ++b) {
    Tensor attention = torch::zeros_like(updates[0]);
    Tensor mlp = attention.clone();
    Tensor early = attention.clone();
    Tensor late = attention.clone();
    for (int64_t i = 0; i < s(); ++i) {
      (i % 2 == 0 ? attention : mlp) += updates[b * s() + i];
      (i < s() / 2 ? early : late) += updates[b * s() + i];
    }
    const std::string number = std::to_string(b);
    const Tensor c = seen.Source(last, "C" + number);
    const Tensor phase = seen.Source(last, "Dphi" + number);
    const Tensor split = seen.Source(last, "Dsig" + number);
    EXPECT_LE(Error((c + phase) / 2, attention), 1e-14);
    EXPECT_LE(Error((c - phase) / 2, mlp), 1e-14);
    EXPECT_LE(Error((c + split) / 2, early), 1e-14);
    EXPECT_LE(Error((c - split) / 2, late), 1e-14);
  }
}

TEST_P(Blocks, X7AShortLastBlockIsSplitByItsTrueLength) {
  Bench bench(Wav(7, s()), replicas());
  const std::vector<Tensor> updates = bench.RandomUpdates();
  const int64_t n = bench.sublayers();
  const int64_t begin = (n - 1) / s() * s();
  const int64_t length = n - begin;
  const Recorder seen = bench.Run(bench.Random(1), updates);
  Tensor split = torch::zeros_like(updates[0]);
  for (int64_t i = 0; i < length - 1; ++i) {  // what sublayer n-1 reads
    split += (i < length / 2 ? 1 : -1) * updates[begin + i];
  }
  EXPECT_LE(Error(seen.Source(n - 1, "Psig"), split), 1e-14);
}

TEST_P(Blocks, X8SignsSumToZeroAndAreOrthogonalOnlyForMultiplesOfFour) {
  // Update i of a block is the unit vector i, so sums show their signs.
  const int64_t m = s();
  Bench bench(Wav(m, m), replicas());
  std::vector<Tensor> updates;
  for (int64_t l = 0; l < bench.sublayers(); ++l) {
    Tensor u = torch::zeros({replicas(), 2, 3, 16}, Doubles());
    u.select(-1, l % m).fill_(1);
    updates.push_back(u);
  }
  const Recorder seen = bench.Run(bench.Random(1), updates);
  const Tensor phase = seen.Source(m, "Dphi0")[0][0][0];
  const Tensor split = seen.Source(m, "Dsig0")[0][0][0];
  EXPECT_EQ(phase.sum().item<double>(), 0);
  EXPECT_EQ(split.sum().item<double>(), 0);
  EXPECT_EQ((phase * split).sum().item<double>(), m % 4 == 0 ? 0 : 2);
}

TEST_P(Blocks, X8AddingOneVectorToAllUpdatesLeavesDetailsUnchanged) {
  Bench bench(Wav(7, s()), replicas());
  const Tensor e = bench.Random(1);
  std::vector<Tensor> updates = bench.RandomUpdates();
  const Recorder before = bench.Run(e, updates);
  const Tensor vector = bench.Random(2);
  for (Tensor& u : updates) u = u + vector;
  const Recorder after = bench.Run(e, updates);
  const int64_t q = s();
  for (const char* label : {"Dphi0", "Dsig0"}) {
    EXPECT_LE(Error(after.Source(q, label), before.Source(q, label)), 1e-14);
  }
}

TEST_P(Blocks, X9InARunningBlockDetailsBeginAsThePartialItself) {
  Bench bench(Wav(7, s()), replicas());
  const Recorder seen = bench.Run(bench.Random(1), bench.RandomUpdates());
  EXPECT_TRUE(torch::equal(seen.Source(1, "Pphi"), seen.Source(1, "P")));
  for (int64_t i = 1; i <= s() / 2; ++i) {
    EXPECT_TRUE(torch::equal(seen.Source(i, "Psig"), seen.Source(i, "P")));
  }
  EXPECT_FALSE(seen.Has(0, "P"));
  EXPECT_FALSE(seen.Has(s(), "P"));
}

TEST_P(Blocks, X9TheScaleOfAnEqualDetailIsExactlyOne) {
  for (const double rho : {1.0, 4.0}) {
    Bench bench(Wav(7, s(), {{"rho", rho}}), replicas());
    const Recorder seen = bench.Run(bench.Random(1), bench.RandomUpdates());
    const model::RouteRecord& second = seen.records.at(1);  // e, P, Pphi, Psig
    Tensor mix = torch::zeros_like(second.out_RBTD);
    for (size_t j = 0; j < second.labels.size(); ++j) {
      mix = mix + second.weights_JRBT[j].unsqueeze(-1) * second.sources_RBTD[j];
    }
    EXPECT_LE(Error(second.out_RBTD, mix), 1e-15) << rho;
  }
}

TEST_P(Blocks, X11DetailMassAtTheStartFollowsFromTheBias) {
  const double beta = -1.25;
  Bench bench(Wav(7, s(), {{"detail_bias", beta}}), replicas());
  model::FigureTable table;
  model::RoutingProbe probe(s(), table);
  const Recorder seen = bench.Run(bench.Random(1), bench.RandomUpdates());
  for (const model::RouteRecord& record : seen.records) probe.OnRoute(record);
  for (int64_t q = 1; q < bench.sublayers(); ++q) {
    const double begun = std::ceil(static_cast<double>(q) / s());
    const double details = 2 * begun * std::exp(beta);
    for (const auto& figures : table.Read(replicas())) {
      EXPECT_NEAR(figures.at("route.detail_mass").at(q),
                  details / (1 + begun + details), 1e-12)
          << q;
    }
  }
}

TEST_P(Blocks, X12TheReadoutSeesNoDetails) {
  Bench bench(Wav(7, s()), replicas());
  bench.SetQueries(0.5);
  const Recorder seen = bench.Run(bench.Random(1), bench.RandomUpdates());
  for (const std::string& label : seen.records.back().labels) {
    EXPECT_TRUE(label == "e" || label == "P" || label.starts_with("C"))
        << label;
  }
}

INSTANTIATE_TEST_SUITE_P(Grid, Blocks,
                         testing::Combine(testing::Values(1, 3),
                                          testing::Values(4, 6, 8, 10)),
                         [](const auto& info) {
                           return "R" +
                                  std::to_string(std::get<0>(info.param)) +
                                  "_S" +
                                  std::to_string(std::get<1>(info.param));
                         });

TEST(X8, InABlockOfTwoTheDetailsCoincideBitForBit) {
  Bench bench(Wav(3, 4), 2);  // six sublayers: a last block of two
  const Recorder seen = bench.Run(bench.Random(1), bench.RandomUpdates());
  EXPECT_TRUE(torch::equal(seen.Source(5, "Pphi"), seen.Source(5, "Psig")));
}

/// Updates whose phase detail is 1/16 of their sum everywhere, and whose split
/// detail is exactly 0: multiples of 1/64, so that no sum rounds.
std::vector<Tensor> UpdatesOfRatio16(const Bench& bench) {
  const Tensor c = (bench.Random(9) * 64).round() / 64;
  std::vector<Tensor> updates;
  for (int64_t l = 0; l < bench.sublayers(); ++l) {
    updates.push_back(l % 2 == 0 ? c + c / 16 : c - c / 16);
  }
  return updates;
}

TEST(X10, TheClipActsOnlyAboveRho) {
  std::map<double, model::RouteRecord> by_rho;
  for (const double rho : {4.0, 8.0, 17.0, 32.0}) {
    Bench bench(Wav(4, 4, {{"rho", rho}}), 2);
    bench.SetQueries(0.5);
    const Recorder seen = bench.Run(bench.Random(1), UpdatesOfRatio16(bench));
    by_rho[rho] = seen.records.at(4);  // reads the finished block
  }
  EXPECT_TRUE(torch::equal(by_rho[17].out_RBTD, by_rho[32].out_RBTD));
  EXPECT_FALSE(torch::equal(by_rho[4].out_RBTD, by_rho[8].out_RBTD));
  EXPECT_FALSE(torch::equal(by_rho[8].out_RBTD, by_rho[17].out_RBTD));
  EXPECT_TRUE(torch::equal(by_rho[4].weights_JRBT, by_rho[32].weights_JRBT));
}

TEST(X10, NoGradientReachesTheSumThroughTheScale) {
  torch::Generator generator =
      torch::make_generator<torch::CPUGeneratorImpl>(1);
  const auto leaf = [&] {
    return torch::randn({1, 1, 2, 8}, generator, torch::kFloat64)
        .requires_grad_();
  };
  const Tensor c = leaf();
  const Tensor d = leaf();
  const Tensor scale_RBT =
      (c.detach().square().mean(-1) / d.detach().square().mean(-1)).sqrt();
  // At zero weight on C itself its only way in would be the scale.
  model::RouterKey key{torch::zeros({1, 8}, torch::kFloat64),
                       torch::full({1, 1}, 800.0, torch::kFloat64)};
  const std::vector<model::Candidate> candidates = {
      {model::MakeSource(c, 1e-12, "C0"), -1, {}},
      {model::MakeSource(d, 1e-12, "Dphi0"), 0, scale_RBT}};
  const Tensor out = model::Route(candidates, key);
  out.sum().backward();
  EXPECT_TRUE(!c.grad().defined() || c.grad().eq(0).all().item<bool>());
  EXPECT_LE(Error(d.grad(), scale_RBT.unsqueeze(-1).expand_as(d)), 1e-14);
}

}  // namespace
}  // namespace leadline::exact
