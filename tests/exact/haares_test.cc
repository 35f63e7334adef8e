// X5 to X12 for haares and its controls: block sums with one detail each, of
// even and odd blocks and with short last ones.

#include <algorithm>
#include <cmath>
#include <ostream>

#include "model/methods/random_signs.h"
#include "model/router/reference.h"
#include "tests/exact/pass_bench.h"
#include "tests/exact/world.h"

namespace leadline::exact {
namespace {

using model::Decoder;
using torch::Tensor;

const std::vector<std::string> kFamily = {"haares", "haares_dup",
                                          "haares_random", "haares_fixedbias"};

struct Case {
  int64_t replicas;
  int64_t s;
  int64_t depth;  // 2 * depth sublayers: the last block has their rest
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << "R " << c.replicas << " S " << c.s << " depth " << c.depth;
}

class Haares : public testing::TestWithParam<Case> {
 protected:
  int64_t replicas() const { return GetParam().replicas; }
  int64_t s() const { return GetParam().s; }
  int64_t depth() const { return GetParam().depth; }
  int64_t sublayers() const { return 2 * depth(); }
  int64_t Length(int64_t b) const {
    return std::min(s(), sublayers() - b * s());
  }

  spec::Settings Of(const std::string& method,
                    spec::GivenSettings extra = {}) const {
    extra["block_sublayers"] = s();
    return Small(method, depth(), extra);
  }

  static double SplitSign(int64_t i, int64_t m) {
    if (m % 2 == 1 && i == m / 2) return 0;
    return i < m / 2 ? 1 : -1;
  }

  /// The detail of the block that sublayer q's predecessor belongs to, as far
  /// as it is, by the definition.
  Tensor Detail(const std::vector<Tensor>& updates, int64_t q,
                const std::function<double(int64_t r, int64_t l)>& sign) const {
    const int64_t begin = (q - 1) / s() * s();
    Tensor sum = torch::zeros_like(updates[0]);
    for (int64_t l = begin; l < q; ++l) {
      for (int64_t r = 0; r < replicas(); ++r) {
        sum[r] += sign(r, l) * updates[l][r];
      }
    }
    return sum;
  }

  /// Label of the detail that router q has of the block begun last.
  std::string Newest(int64_t q) const {
    return q % s() == 0 ? "Dsig" + std::to_string(q / s() - 1) : "Psig";
  }
};

TEST_P(Haares, X5WithoutDetailsIsBlockAttnResBitForBit) {
  const Text text = RandomText(replicas());
  for (const std::string& method : kFamily) {
    for (const auto& type : {Floats(), Doubles()}) {
      const Decoder plain(Of("block_attnres"), kVocabulary,
                          SomeSeeds(replicas()), type);
      Shake(plain, 0.2);
      const PassResult expected = RunPass(plain, text);
      for (const spec::GivenSettings& off : std::vector<spec::GivenSettings>{
               {{"details", std::string("off")}},
               {{"detail_bias", std::string("-inf")}}}) {
        const Decoder without(Of(method, off), kVocabulary,
                              SomeSeeds(replicas()), type);
        CopyShared(plain, without);
        const PassResult result = RunPass(without, text);
        EXPECT_TRUE(torch::equal(result.logits_RBTV, expected.logits_RBTV));
        for (const auto& [name, gradient] : expected.gradients) {
          EXPECT_TRUE(torch::equal(result.gradients.at(name), gradient))
              << name;
        }
      }
      const Decoder infinite(Of(method), kVocabulary, SomeSeeds(replicas()),
                             type);
      CopyShared(plain, infinite);
      for (const auto* list :
           {&infinite.parameters_in_order(), &infinite.buffers_in_order()}) {
        for (const model::NamedParameter& p : *list) {
          const torch::NoGradGuard no_grad;
          if (p.name == "haares.beta") Tensor(p.tensor).fill_(-INFINITY);
        }
      }
      EXPECT_TRUE(torch::equal(RunPass(infinite, text).logits_RBTV,
                               expected.logits_RBTV))
          << method;
    }
  }
}

TEST_P(Haares, X7X9DetailsAreTheSumsOfTheirSigns) {
  for (const std::string& method : kFamily) {
    Bench bench(Of(method), replicas());
    const std::vector<Tensor> updates = bench.RandomUpdates();
    const Recorder seen = bench.Run(bench.Random(1), updates);
    const auto sign = [&](int64_t r, int64_t l) {
      const int64_t b = l / s();
      if (method == "haares_dup") return 1.0;
      if (method != "haares_random") return SplitSign(l % s(), Length(b));
      return model::RandomSigns(r + 1, b, Length(b)).at(l % s());
    };
    for (int64_t q = 1; q < bench.sublayers(); ++q) {
      const Tensor got = seen.Source(q, Newest(q));
      EXPECT_LE((got - Detail(updates, q, sign)).abs().max().item<double>(),
                1e-13)
          << method << " " << q;
    }
  }
}

TEST_P(Haares, X9TheDetailOfARunningBlockIsItsSumInTheFirstHalf) {
  Bench bench(Of("haares"), replicas());
  const Recorder seen = bench.Run(bench.Random(1), bench.RandomUpdates());
  for (int64_t q = 1; q < bench.sublayers(); ++q) {
    if (q % s() == 0) continue;
    const int64_t half = Length(q / s()) / 2;
    EXPECT_EQ(torch::equal(seen.Source(q, "Psig"), seen.Source(q, "P")),
              q % s() <= half)
        << q;
  }
}

TEST_P(Haares, X8AddingOneVectorToAllUpdatesLeavesFinishedDetailsUnchanged) {
  if (s() >= sublayers()) return;  // no router reads a finished block
  for (const char* method : {"haares", "haares_random"}) {
    Bench bench(Of(method), replicas());
    const Tensor e = bench.Random(1);
    std::vector<Tensor> updates = bench.RandomUpdates();
    const Recorder before = bench.Run(e, updates);
    const Tensor vector = bench.Random(2);
    for (Tensor& u : updates) u = u + vector;
    const Recorder after = bench.Run(e, updates);
    EXPECT_LE(Error(after.Source(s(), "Dsig0"), before.Source(s(), "Dsig0")),
              1e-14);
  }
}

TEST_P(Haares, X10OutputsAreTheSoftmaxOfTheDefinition) {
  constexpr double kRho = 1.25;
  for (const std::string& method : kFamily) {
    Bench bench(Of(method, {{"rho", kRho}}), replicas());
    bench.SetQueries(0.5);
    const Recorder seen = bench.Run(bench.Random(1), bench.RandomUpdates());
    for (int64_t q = 1; q <= bench.sublayers(); ++q) {
      const model::RouteRecord& record = seen.At(q);
      Tensor mix = torch::zeros_like(record.out_RBTD);
      for (size_t j = 0; j < record.labels.size(); ++j) {
        Tensor share = record.weights_JRBT[static_cast<int64_t>(j)];
        if (record.labels[j].find("sig") != std::string::npos) {
          const Tensor rms_c = record.sources_RBTD[j - 1].square().mean(-1);
          const Tensor rms_d = record.sources_RBTD[j].square().mean(-1);
          share =
              share *
              ((rms_c + 1e-12).sqrt() / (rms_d + 1e-12).sqrt()).clamp_max(kRho);
        }
        mix = mix + share.unsqueeze(-1) * record.sources_RBTD[j];
      }
      EXPECT_LE(Error(record.out_RBTD, mix), 1e-13) << method << " " << q;
    }
  }
}

TEST_P(Haares, X10WeightsDoNotDependOnTheCap) {
  std::vector<Recorder> seen;
  for (const double rho : {1.0, 8.0}) {
    Bench bench(Of("haares", {{"rho", rho}}), replicas());
    bench.SetQueries(0.5);
    seen.push_back(bench.Run(bench.Random(1), bench.RandomUpdates()));
  }
  for (int64_t q = 1; q <= sublayers(); ++q) {
    EXPECT_TRUE(
        torch::equal(seen[0].At(q).weights_JRBT, seen[1].At(q).weights_JRBT));
  }
}

TEST_P(Haares, X11DetailMassAtTheStartFollowsFromTheBias) {
  const double beta = -1.25;
  for (const std::string& method : kFamily) {
    Bench bench(Of(method, {{"detail_bias", beta}}), replicas());
    const Recorder seen = bench.Run(bench.Random(1), bench.RandomUpdates());
    for (int64_t q = 1; q < bench.sublayers(); ++q) {
      const model::RouteRecord& record = seen.At(q);
      const double begun = std::ceil(static_cast<double>(q) / s());
      EXPECT_EQ(static_cast<double>(record.labels.size()), 1 + 2 * begun);
      Tensor mass = torch::zeros_like(record.weights_JRBT[0]);
      for (size_t j = 0; j < record.labels.size(); ++j) {
        if (record.labels[j].find("sig") == std::string::npos) continue;
        mass = mass + record.weights_JRBT[static_cast<int64_t>(j)];
      }
      const double details = begun * std::exp(beta);
      const double want = details / (1 + begun + details);
      EXPECT_LE((mass - want).abs().max().item<double>(), 1e-12)
          << method << " " << q;
    }
  }
}

TEST_P(Haares, X12TheReadoutSeesNoDetails) {
  for (const std::string& method : kFamily) {
    Bench bench(Of(method), replicas());
    const Recorder seen = bench.Run(bench.Random(1), bench.RandomUpdates());
    const int64_t blocks = (sublayers() + s() - 1) / s();
    EXPECT_EQ(static_cast<int64_t>(seen.At(sublayers()).labels.size()),
              1 + blocks)
        << method;
    EXPECT_FALSE(seen.Has(sublayers(), "Psig"));
    EXPECT_FALSE(seen.Has(sublayers(), "Dsig0"));
  }
}

TEST_P(Haares, DupIsBlockAttnResWithABiasOnBlocks) {
  Bench bench(Of("haares_dup"), replicas());
  bench.Shake(0.4);
  const Recorder seen = bench.Run(bench.Random(1), bench.RandomUpdates());
  std::map<std::string, Tensor> values;
  for (const model::NamedParameter& p : bench.parameters.trained()) {
    values[p.name] = p.tensor.detach();
  }
  for (int64_t q = 1; q < bench.sublayers(); ++q) {
    const model::RouteRecord& record = seen.At(q);
    const Tensor bias_R1 =
        torch::log1p(values.at("haares.beta").select(1, q).exp()).unsqueeze(1);
    const model::RouterKey key{(values.at("router.w").select(1, q) *
                                values.at("router.g").select(1, q)),
                               bias_R1};
    std::vector<model::Candidate> blocks;
    for (size_t j = 0; j < record.labels.size(); ++j) {
      const std::string& label = record.labels[j];
      if (label.find("sig") != std::string::npos) continue;
      blocks.push_back({model::MakeSource(record.sources_RBTD[j], 1e-12, label),
                        label == "e" ? -1 : 0});
    }
    EXPECT_LE(Error(record.out_RBTD, model::RouteReference(blocks, key, 1e-12)),
              1e-14)
        << q;
  }
}

TEST_P(Haares, AWindowShowsFinishedBlocksWithTheirDetails) {
  for (const std::string& method : kFamily) {
    for (const char* static_mixing : {"off", "on"}) {
      Bench bench(Of(method, {{"window", int64_t{1}},
                              {"static_mixing", std::string(static_mixing)}}),
                  replicas());
      const Recorder seen = bench.Run(bench.Random(1), bench.RandomUpdates());
      for (int64_t q = 1; q < bench.sublayers(); ++q) {
        std::vector<std::string> want = {"e"};
        if (q >= s()) {
          const std::string number = std::to_string(q / s() - 1);
          want.insert(want.end(), {"C" + number, "Dsig" + number});
        }
        if (q % s() != 0) want.insert(want.end(), {"P", "Psig"});
        EXPECT_EQ(seen.At(q).labels, want) << method << " " << q;
      }
    }
  }
}

TEST_P(Haares, X14GradientsOfTheirParametersAreDifferenceQuotients) {
  // Updates are given, so the scales, which have no gradient, are constants.
  for (const std::string& method : kFamily) {
    for (const char* mode : {"per_router", "shared", "static"}) {
      spec::GivenSettings extra;
      if (std::string(mode) == "static") {
        extra["static_mixing"] = std::string("on");
      } else if (method != "haares_fixedbias") {
        extra["detail_bias_mode"] = std::string(mode);
      }
      Bench bench(Of(method, extra), replicas());
      bench.Shake(0.3);
      const Tensor e = bench.Random(1);
      const std::vector<Tensor> updates = bench.RandomUpdates();
      EXPECT_LE(FiniteDifferenceError(bench.parameters.trained(),
                                      [&] { return bench.Loss(e, updates); }),
                1e-6)
          << method << " " << mode;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Grid, Haares,
                         testing::Values(Case{1, 2, 2}, Case{3, 2, 3},
                                         Case{1, 3, 3}, Case{3, 3, 5},
                                         Case{1, 3, 5}, Case{3, 4, 5},
                                         Case{1, 5, 4}, Case{3, 7, 5},
                                         Case{2, 8, 5}, Case{3, 4, 2}),
                         [](const auto& info) {
                           return "R" + std::to_string(info.param.replicas) +
                                  "_S" + std::to_string(info.param.s) + "_L" +
                                  std::to_string(info.param.depth);
                         });

TEST(HaaresRandom, EachReplicaHasTheSignsOfItsSeed) {
  const spec::Settings settings =
      Small("haares_random", 6, {{"block_sublayers", int64_t{6}}});
  const Decoder decoder(settings, kVocabulary, {11, 12, 11}, Floats());
  ASSERT_EQ(decoder.buffers_in_order().size(), 1U);
  const Tensor signs_Rn = decoder.buffers_in_order()[0].tensor;
  EXPECT_EQ(decoder.buffers_in_order()[0].name, "haares.signs");
  EXPECT_TRUE(torch::equal(signs_Rn[0], signs_Rn[2]));
  EXPECT_FALSE(torch::equal(signs_Rn[0], signs_Rn[1]));
  for (int64_t b = 0; b < 2; ++b) {
    EXPECT_TRUE(
        signs_Rn.slice(1, 6 * b, 6 * b + 6).sum(1).eq(0).all().item<bool>());
  }
}

TEST(HaaresFixedBias, HoldsItsBias) {
  const Decoder decoder(Small("haares_fixedbias", 3), kVocabulary, {1},
                        Floats());
  for (const model::NamedParameter& p : decoder.parameters_in_order()) {
    EXPECT_NE(p.name, "haares.beta");
  }
  EXPECT_EQ(decoder.buffers_in_order().at(0).name, "haares.beta");
}

}  // namespace
}  // namespace leadline::exact
