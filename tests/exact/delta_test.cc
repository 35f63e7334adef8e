// X1 to X4, X6, X14 and X21 for the delta family: routers that add to the plain
// stream, with gates and null sources.

#include <cmath>
#include <ostream>

#include "tests/exact/pass_bench.h"
#include "tests/exact/world.h"

namespace leadline::exact {
namespace {

using model::Decoder;
using spec::GivenSettings;
using torch::Tensor;

std::string Word(const char* word) { return word; }

const std::vector<std::string> kFamily = {"delta_attnres", "delta_block",
                                          "delta_block_nopartial",
                                          "delta_block_repo"};

/// Block methods with blocks of that length.
spec::Settings Of(const std::string& method, int64_t depth, int64_t s,
                  GivenSettings extra = {}) {
  if (method != "delta_attnres") extra["block_sublayers"] = s;
  return Small(method, depth, extra);
}

void ExpectSame(const PassResult& a, const PassResult& b) {
  EXPECT_TRUE(torch::equal(a.logits_RBTV, b.logits_RBTV));
  for (const auto& [name, gradient] : b.gradients) {
    EXPECT_TRUE(torch::equal(a.gradients.at(name), gradient)) << name;
  }
}

class Delta : public testing::TestWithParam<int64_t> {
 protected:
  int64_t replicas() const { return GetParam(); }

  PassResult Run(const spec::Settings& settings,
                 const torch::TensorOptions& type = Doubles()) const {
    return RunPass(Decoder(settings, kVocabulary, SomeSeeds(replicas()), type),
                   RandomText(replicas()));
  }
};

/// Of the method's parameters and the embeddings.
double SlopeError(const Decoder& decoder) {
  const Text text = RandomText(decoder.replicas());
  std::vector<model::NamedParameter> parameters;
  for (const model::NamedParameter& p : decoder.parameters_in_order()) {
    if (p.of_method || p.name == "embed") parameters.push_back(p);
  }
  return FiniteDifferenceError(parameters, [&] {
    return model::TokenLosses(decoder.Forward(text.tokens_RBT),
                              text.targets_RBT)
        .mean({1, 2})
        .sum();
  });
}

TEST_P(Delta, X4BlocksOfOneAreDeltaAttnResBitForBit) {
  for (const auto& type : {Floats(), Doubles()}) {
    for (const char* null_source : {"off", "logit", "vector"}) {
      const GivenSettings extra = {{"null_source", Word(null_source)},
                                   {"gate", Word("scalar")}};
      const Decoder full(Of("delta_attnres", 5, 0, extra), kVocabulary,
                         SomeSeeds(replicas()), type);
      const Decoder blocks(Of("delta_block", 5, 1, extra), kVocabulary,
                           SomeSeeds(replicas()), type);
      Shake(full, 0.2);
      CopyShared(full, blocks);
      const Text text = RandomText(replicas());
      ExpectSame(RunPass(blocks, text), RunPass(full, text));
    }
  }
}

TEST_P(Delta, X6SourcesSumToTheStream) {
  for (const int64_t s : {1, 3, 4}) {
    for (const char* method : {"delta_attnres", "delta_block"}) {
      Bench bench(Of(method, 5, s), replicas());
      const Tensor e = bench.Random(1);
      const std::vector<Tensor> updates = bench.RandomUpdates();
      const Recorder seen = bench.Run(e, updates);
      EXPECT_EQ(seen.records.size(), 9U) << "the first does not route";
      Tensor stream = e;
      for (int64_t q = 1; q < bench.sublayers(); ++q) {
        stream = stream + updates[q - 1];
        Tensor sum = torch::zeros_like(e);
        for (const Tensor& v : seen.At(q).sources_RBTD) sum = sum + v;
        EXPECT_LE(Error(sum, stream), 1e-12) << method << " " << q;
      }
    }
  }
}

TEST_P(Delta, RoutersAddToTheStreamThatTheFinalNormReads) {
  for (const std::string& method : kFamily) {
    Bench bench(Of(method, 3, 2), replicas());
    bench.SetQueries(0.5);
    const Tensor e = bench.Random(1);
    const std::vector<Tensor> updates = bench.RandomUpdates();
    const Recorder seen = bench.Run(e, updates);
    Tensor stream = e;
    for (int64_t l = 0; l < bench.sublayers(); ++l) {
      const Tensor want = l == 0 ? stream : stream + seen.At(l).out_RBTD;
      EXPECT_LE(Error(seen.reads_RBTD.at(l), want), 1e-14) << method << l;
      stream = stream + updates[l];
    }
    EXPECT_LE(Error(seen.reads_RBTD.back(), stream), 1e-14) << method;
  }
}

TEST_P(Delta, WithoutItsPartialABlockIsASourceOnlyWhenFinished) {
  for (const int64_t s : {2, 3, 4}) {
    Bench bench(Of("delta_block_nopartial", 5, s), replicas());
    const Recorder seen = bench.Run(bench.Random(1), bench.RandomUpdates());
    for (int64_t q = 1; q < bench.sublayers(); ++q) {
      std::vector<std::string> want = {"e"};
      for (int64_t b = 0; b < q / s; ++b) {
        want.push_back("C" + std::to_string(b));
      }
      EXPECT_EQ(seen.At(q).labels, want) << q;
    }
  }
}

TEST_P(Delta, StatesAreTheStreamsBeforeEachSublayer) {
  Bench bench(Small("delta_attnres", 3, {{"sources", Word("states")}}),
              replicas());
  const Tensor e = bench.Random(1);
  const std::vector<Tensor> updates = bench.RandomUpdates();
  const Recorder seen = bench.Run(e, updates);
  const model::RouteRecord& last = seen.At(5);
  ASSERT_EQ(last.labels.size(), 6U);
  Tensor stream = e;
  for (int64_t l = 0; l <= 5; ++l) {
    EXPECT_LE(Error(last.sources_RBTD[l], stream), 1e-14);
    stream = stream + updates[l];
  }
}

TEST_P(Delta, X21ThePublishedCodeHasAlternatingPartialSums) {
  Bench bench(Of("delta_block_repo", 5, 2), replicas());
  const Tensor e = bench.Random(1);
  const std::vector<Tensor> u = bench.RandomUpdates();
  const Recorder seen = bench.Run(e, u);
  const std::vector<Tensor> want = {e, u[0] + u[1], e + u[2] + u[3],
                                    u[0] + u[1] + u[4] + u[5],
                                    e + u[2] + u[3] + u[6] + u[7]};
  for (int64_t q = 1; q < 10; ++q) {
    const model::RouteRecord& record = seen.At(q);
    // A source appears before the second sublayer of the layer it begins.
    ASSERT_EQ(static_cast<int64_t>(record.sources_RBTD.size()), (q + 1) / 2);
    for (size_t j = 0; j < record.sources_RBTD.size(); ++j) {
      EXPECT_LE(Error(record.sources_RBTD[j], want[j]), 1e-12) << q;
    }
  }
}

TEST_P(Delta, X1AClosedGateIsPreNormBitForBit) {
  for (const auto& type : {Floats(), Doubles()}) {
    const PassResult plain = Run(Small("prenorm", 5), type);
    for (const std::string& method : kFamily) {
      const PassResult gated =
          Run(Of(method, 5, 4,
                 {{"gate", Word("scalar")}, {"router_init_std", 0.3}}),
              type);
      EXPECT_TRUE(torch::equal(gated.logits_RBTV, plain.logits_RBTV));
      for (const char* name : {"router.w", "router.g"}) {
        EXPECT_TRUE(gated.gradients.at(name).eq(0).all().item<bool>());
      }
      const Tensor gate_Rn = gated.gradients.at("delta.gate");
      EXPECT_TRUE(gate_Rn.select(1, 0).eq(0).all().item<bool>());
      EXPECT_FALSE(gate_Rn.select(1, 1).eq(0).all().item<bool>());
    }
  }
}

TEST_P(Delta, X1X2AZeroNullSourceLeavesPreNorm) {
  const PassResult plain = Run(Small("prenorm", 5, {{"norm_eps", 1e-5}}));
  for (const char* null_source : {"logit", "vector"}) {
    for (const int64_t s : {1, 3, 4}) {
      for (const char* method : {"delta_attnres", "delta_block"}) {
        const PassResult routed = Run(Of(method, 5, s,
                                         {{"null_source", Word(null_source)},
                                          {"norm_eps", 1e-5},
                                          {"eps_mode", Word("compensated")}}));
        EXPECT_LE(LogitError(routed.logits_RBTV, plain.logits_RBTV), 1e-12);
        EXPECT_LE(GradientError(routed.gradients, plain.gradients), 1e-11)
            << method << " " << null_source << " " << s;
        const std::string name =
            Word(null_source) == "logit" ? "router.null_logit" : "router.null";
        const Tensor gradient = routed.gradients.at(name);
        EXPECT_TRUE(gradient.select(1, 0).eq(0).all().item<bool>());
        EXPECT_FALSE(gradient.select(1, 1).eq(0).all().item<bool>());
      }
    }
  }
}

TEST_P(Delta, TheNullSourceIsFirstAndItsMassStartsAsAnEqualShare) {
  for (const char* null_source : {"logit", "vector"}) {
    for (const std::string& method : kFamily) {
      Bench bench(Of(method, 4, 4, {{"null_source", Word(null_source)}}),
                  replicas());
      const Recorder seen = bench.Run(bench.Random(1), bench.RandomUpdates());
      for (int64_t q = 1; q < bench.sublayers(); ++q) {
        const model::RouteRecord& record = seen.At(q);
        ASSERT_EQ(record.labels[0], "null");
        const double share = 1.0 / static_cast<double>(record.labels.size());
        EXPECT_LE((record.weights_JRBT[0] - share).abs().max().item<double>(),
                  1e-15);
      }
    }
  }
}

TEST_P(Delta, AWindowShowsTheEmbeddingAndTheNewestSources) {
  const GivenSettings two = {{"window", int64_t{2}}};
  using Labels = std::vector<std::string>;
  const auto labels = [&](const std::string& method, int64_t s, int64_t q) {
    Bench bench(Of(method, 5, s, two), replicas());
    return bench.Run(bench.Random(1), bench.RandomUpdates()).At(q).labels;
  };
  EXPECT_EQ(labels("delta_attnres", 0, 1), (Labels{"e", "u0"}));
  EXPECT_EQ(labels("delta_attnres", 0, 7), (Labels{"e", "u5", "u6"}));
  EXPECT_EQ(labels("delta_block", 2, 7), (Labels{"e", "C1", "C2", "P"}));
  EXPECT_EQ(labels("delta_block", 2, 8), (Labels{"e", "C2", "C3"}));
  EXPECT_EQ(labels("delta_block_nopartial", 2, 7), (Labels{"e", "C1", "C2"}));
  EXPECT_EQ(labels("delta_block_repo", 2, 8), (Labels{"e", "C1", "C2"}));
  EXPECT_EQ(labels("delta_block_repo", 2, 9), (Labels{"e", "C2", "C3"}));
}

TEST_P(Delta, StaticMixingStartsAsZeroQueriesDo) {
  for (const std::string& method : kFamily) {
    for (const char* null_source : {"off", "logit", "vector"}) {
      const GivenSettings null = {{"null_source", Word(null_source)}};
      GivenSettings on = null;
      on["static_mixing"] = Word("on");
      const PassResult queries = Run(Of(method, 5, 4, null));
      const PassResult numbers = Run(Of(method, 5, 4, on));
      EXPECT_TRUE(torch::equal(numbers.logits_RBTV, queries.logits_RBTV))
          << method << " " << null_source;
      EXPECT_FALSE(numbers.gradients.contains("router.w"));
      EXPECT_FALSE(numbers.gradients.contains("router.b.0"));
      EXPECT_FALSE(numbers.gradients.at("router.b.9").eq(0).all().item<bool>());
    }
  }
}

TEST_P(Delta, X14GradientsOfTheirParametersAreDifferenceQuotients) {
  for (const std::string& method : kFamily) {
    for (const char* null_source : {"off", "logit", "vector"}) {
      for (const char* static_mixing : {"off", "on"}) {
        const Decoder decoder(Of(method, 3, 2,
                                 {{"null_source", Word(null_source)},
                                  {"static_mixing", Word(static_mixing)},
                                  {"gate", Word("scalar")}}),
                              kVocabulary, SomeSeeds(replicas()), Doubles());
        Shake(decoder, 0.3);
        EXPECT_LE(SlopeError(decoder), 1e-6)
            << method << " " << null_source << " " << static_mixing;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Replicas, Delta, testing::Values(1, 3),
                         [](const auto& info) {
                           return "R" + std::to_string(info.param);
                         });

}  // namespace
}  // namespace leadline::exact
