#include "model/probes/diagnosis.h"

#include <cmath>
#include <functional>
#include <map>

#include <ATen/record_function.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "model/losses.h"
#include "model/random_streams.h"
#include "model/spec/method_table.h"
#include "plain_figures.h"
#include "tests/support/cell_settings.h"

namespace leadline::model {
namespace {

using torch::Tensor;

constexpr int64_t kVocabulary = 11;

spec::Settings SettingsOf(const std::string& method,
                          spec::GivenSettings given = {}) {
  if (spec::BelongsTo(*spec::FindSetting("block_sublayers"), method)) {
    given["block_sublayers"] = int64_t{4};
  }
  return leadline::testing::CellSettings(method, given);
}

/// A decoder in which no parameter is at its special start.
struct World {
  World(const std::string& method, int64_t replicas,
        const spec::GivenSettings& given = {})
      : settings(SettingsOf(method, given)),
        decoder(settings, kVocabulary, Seeds(replicas), torch::kFloat64) {
    for (const NamedParameter& p : decoder.parameters_in_order()) {
      const Tensor noise =
          DrawNormal(Seeds(replicas), "tests/" + p.name,
                     p.tensor.sizes().slice(1), p.name == "router.w" ? 2 : 0.2)
              .to(torch::kFloat64);
      decoder.SetParameter(p.name, p.tensor.detach() + noise);
    }
    tokens =
        torch::arange(replicas * 2 * 5).remainder(7).view({replicas, 2, 5});
    targets = (tokens * 3 + 1).remainder(kVocabulary);
  }

  static std::vector<int64_t> Seeds(int64_t replicas) {
    std::vector<int64_t> seeds;
    for (int64_t r = 0; r < replicas; ++r) seeds.push_back(r + 1);
    return seeds;
  }
  std::vector<Figures> Diagnosed() const {
    return Diagnose(decoder, settings, tokens, targets);
  }

  spec::Settings settings;
  Decoder decoder;
  Tensor tokens;
  Tensor targets;
};

class EveryMethod
    : public ::testing::TestWithParam<std::tuple<std::string, int64_t>> {
 protected:
  World Make(const spec::GivenSettings& given = {}) const {
    return {std::get<0>(GetParam()), std::get<1>(GetParam()), given};
  }
};

testing::PlainOptions OptionsOf(const spec::Settings& settings) {
  testing::PlainOptions options{.eps = settings.Number("norm_eps")};
  if (settings.values().contains("rho")) options.rho = settings.Number("rho");
  if (settings.values().contains("block_sublayers")) {
    options.block_sublayers = settings.Integer("block_sublayers");
  }
  options.additive = settings.method().starts_with("delta_");
  return options;
}

/// NaN equals NaN here: both say that there is no such figure.
void ExpectNear(const std::vector<double>& got, const std::vector<double>& want,
                double tolerance, const std::string& name) {
  ASSERT_EQ(got.size(), want.size()) << name;
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(std::isnan(got[i]), std::isnan(want[i])) << name << " " << i;
    if (std::isnan(want[i])) continue;
    EXPECT_NEAR(got[i], want[i], tolerance * (1 + std::abs(want[i])))
        << name << " " << i;
  }
}

TEST_P(EveryMethod, FiguresAreThoseOfAPlainComputation) {
  const World world = Make();
  testing::Tape tape;
  world.decoder.Forward(world.tokens, {.observer = &tape});
  const auto figures = world.Diagnosed();
  ASSERT_EQ(static_cast<int64_t>(figures.size()), world.decoder.replicas());
  for (size_t r = 0; r < figures.size(); ++r) {
    const auto want = testing::PlainFigures(tape, static_cast<int64_t>(r),
                                            OptionsOf(world.settings));
    size_t compared = 0;
    for (const auto& [name, values] : figures[r].values) {
      const bool measured =
          name.starts_with("route.") || name.starts_with("source.") ||
          name.starts_with("streams.") ||
          (name.starts_with("layer.") && name != "layer.grad_rms") ||
          name.starts_with("detail.rms") || name.starts_with("detail.clip");
      if (!measured) continue;
      ASSERT_TRUE(want.contains(name)) << name;
      ExpectNear(values, want.at(name), 1e-9, name);
      ++compared;
    }
    EXPECT_EQ(compared, want.size());
  }
}

TEST_P(EveryMethod, MapsHoldTheMeanWeights) {
  const World world = Make();
  testing::Tape tape;
  world.decoder.Forward(world.tokens, {.observer = &tape});
  const auto figures = world.Diagnosed();
  for (size_t r = 0; r < figures.size(); ++r) {
    size_t rows = 0;
    for (const RouteRecord& record : tape.routes) {
      const RouterRow& row = figures[r].map.at(record.router);
      EXPECT_EQ(row.sources, record.labels);
      const Tensor mean_J =
          record.weights_JRBT.select(1, static_cast<int64_t>(r)).mean({1, 2});
      for (size_t j = 0; j < row.weights.size(); ++j) {
        EXPECT_NEAR(row.weights[j],
                    mean_J[static_cast<int64_t>(j)].item<double>(), 1e-12);
      }
      ++rows;
    }
    for (const RouterRow& row : figures[r].map) rows -= !row.sources.empty();
    EXPECT_EQ(rows, 0U);
  }
}

/// Adds to single elements of an update.
class Nudge final : public RouterObserver {
 public:
  Nudge(int64_t sublayer, int64_t element, double by)
      : sublayer_(sublayer), element_(element), by_(by) {}

  void OnSublayer(int64_t sublayer, const Tensor&,
                  const Tensor& u_RBTD) override {
    if (sublayer != sublayer_) return;
    // In every replica at once: they do not touch each other.
    for (int64_t r = 0; r < u_RBTD.size(0); ++r) {
      Tensor replica = u_RBTD[r];
      replica.flatten()[element_] += by_;
    }
  }

 private:
  int64_t sublayer_;
  int64_t element_;
  double by_;
};

TEST_P(EveryMethod, GradientRmsIsThatOfFiniteDifferences) {
  // Few tokens: every element is moved by itself. Details are left out: the
  // factor of their values has no gradient, by definition, but a difference.
  const bool details =
      spec::BelongsTo(*spec::FindSetting("details"), std::get<0>(GetParam()));
  World world = details ? Make({{"details", std::string("off")}}) : Make();
  world.tokens = world.tokens.slice(1, 0, 1).slice(2, 0, 2).contiguous();
  world.targets = world.targets.slice(1, 0, 1).slice(2, 0, 2).contiguous();
  const auto figures = world.Diagnosed();
  const torch::NoGradGuard no_grad;
  const auto loss_R = [&](int64_t l, int64_t element, double by) {
    Nudge nudge(l, element, by);
    return TokenLosses(
               world.decoder.Forward(world.tokens, {.observer = &nudge}),
               world.targets)
        .sum({1, 2});
  };
  const int64_t elements = 2 * 8;
  const double step = 2e-6;
  for (int64_t l = 0; l < 6; ++l) {
    Tensor squares_R =
        torch::zeros({world.decoder.replicas()}, torch::kFloat64);
    for (int64_t i = 0; i < elements; ++i) {
      squares_R +=
          ((loss_R(l, i, step) - loss_R(l, i, -step)) / (2 * step)).square();
    }
    const Tensor want_R = (squares_R / static_cast<double>(elements)).sqrt();
    for (size_t r = 0; r < figures.size(); ++r) {
      const double want = want_R[static_cast<int64_t>(r)].item<double>();
      EXPECT_NEAR(figures[r].values.at("layer.grad_rms").at(l), want,
                  1e-6 * want + 1e-9)
          << l;
    }
  }
}

/// Keeps what flows back into each update.
class Hooks final : public RouterObserver {
 public:
  void OnSublayer(int64_t l, const Tensor&, const Tensor& u_RBTD) override {
    u_RBTD.register_hook(
        [this, l](const Tensor& gradient) { gradients[l] = gradient.clone(); });
  }
  std::map<int64_t, Tensor> gradients;
};

TEST_P(EveryMethod, GradientRmsIsThatOfAWholeBackwardPass) {
  const World world = Make();
  const auto figures = world.Diagnosed();
  Hooks hooks;
  TokenLosses(world.decoder.Forward(world.tokens, {.observer = &hooks}),
              world.targets)
      .sum()
      .backward();
  ASSERT_EQ(hooks.gradients.size(), 6U);
  for (size_t r = 0; r < figures.size(); ++r) {
    for (const auto& [l, gradient] : hooks.gradients) {
      const Tensor of_replica = gradient[static_cast<int64_t>(r)].contiguous();
      const auto* values = of_replica.const_data_ptr<double>();
      double squares = 0;
      for (int64_t i = 0; i < of_replica.numel(); ++i) {
        squares += values[i] * values[i];
      }
      const double want =
          std::sqrt(squares / static_cast<double>(of_replica.numel()));
      EXPECT_NEAR(figures[r].values.at("layer.grad_rms").at(l), want,
                  1e-10 * want)
          << l;
    }
  }
}

TEST_P(EveryMethod, GradientsOfParametersStayAsTheyWere) {
  const World world = Make();
  for (const NamedParameter& p : world.decoder.parameters_in_order()) {
    Tensor tensor = p.tensor;
    if (p.name == "embed") tensor.mutable_grad() = torch::ones_like(tensor);
  }
  const Tensor before = world.decoder.Forward(world.tokens).detach();
  world.Diagnosed();
  for (const NamedParameter& p : world.decoder.parameters_in_order()) {
    if (p.name == "embed") {
      EXPECT_TRUE(p.tensor.grad().equal(torch::ones_like(p.tensor)));
    } else {
      EXPECT_FALSE(p.tensor.grad().defined()) << p.name;
    }
  }
  EXPECT_TRUE(world.decoder.Forward(world.tokens).equal(before));
}

TEST_P(EveryMethod, AReplicaThatIsNotFiniteLeavesTheOthersAsTheyWere) {
  const World world = Make();
  if (world.decoder.replicas() == 1) return;
  const auto before = world.Diagnosed();
  Tensor embed = world.decoder.parameters_in_order()[0].tensor;
  {
    const torch::NoGradGuard no_grad;
    embed[1].fill_(std::nan(""));
  }
  const auto after = world.Diagnosed();
  EXPECT_TRUE(std::isnan(after[1].values.at("layer.input_rms")[0]));
  for (const size_t r : {0, 2}) {
    for (const auto& [name, values] : before[r].values) {
      ExpectNear(after[r].values.at(name), values, 0, name);
    }
  }
}

TEST_P(EveryMethod, NormsOfQueriesAreThoseOfTheMeanLoss) {
  const World world = Make();
  const auto figures = world.Diagnosed();
  TokenLosses(world.decoder.Forward(world.tokens), world.targets)
      .mean({1, 2})
      .sum()
      .backward();
  for (const NamedParameter& p : world.decoder.parameters_in_order()) {
    if (p.name != "router.w") continue;
    for (size_t r = 0; r < figures.size(); ++r) {
      for (int64_t q = 0; q < p.tensor.size(1); ++q) {
        const auto at = static_cast<int64_t>(r);
        EXPECT_NEAR(figures[r].values.at("router.w_norm").at(q),
                    p.tensor[at][q].norm().item<double>(), 1e-12);
        EXPECT_NEAR(figures[r].values.at("router.w_grad_norm").at(q),
                    p.tensor.grad()[at][q].norm().item<double>(), 1e-12);
      }
    }
    return;
  }
  EXPECT_FALSE(figures[0].values.contains("router.w_norm"));
}

std::vector<std::string> Methods() {
  std::vector<std::string> names;
  for (const spec::MethodInfo& method : spec::MethodTable()) {
    names.emplace_back(method.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Diagnosis, EveryMethod,
                         ::testing::Combine(::testing::ValuesIn(Methods()),
                                            ::testing::Values(int64_t{1},
                                                              int64_t{3})),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_R" +
                                  std::to_string(std::get<1>(info.param));
                         });

TEST(Diagnosis, ParametersAreListedByName) {
  const auto values = [](const World& world, const std::string& name) {
    return world.Diagnosed()[1].values.at(name);
  };
  const auto parameter = [](const World& world, const std::string& name) {
    for (const auto* list : {&world.decoder.parameters_in_order(),
                             &world.decoder.buffers_in_order()}) {
      for (const NamedParameter& p : *list) {
        if (p.name == name) return p.tensor.detach();
      }
    }
    ADD_FAILURE() << name;
    return Tensor();
  };
  const World rezero("rezero", 3);
  ASSERT_EQ(values(rezero, "scale.alpha").size(), 6U);
  EXPECT_EQ(values(rezero, "scale.alpha")[4],
            parameter(rezero, "rezero.alpha")[1][4].item<double>());
  const World scaled("layerscale", 3);
  EXPECT_NEAR(
      values(scaled, "scale.lambda_rms").at(5),
      parameter(scaled, "layerscale.lambda")[1][5].norm().item<double>() /
          std::sqrt(8.0),
      1e-12);
  for (const char* mode : {"per_router", "shared", "fixed"}) {
    const World wav("wav", 3, {{"detail_bias_mode", std::string(mode)}});
    const Tensor beta = parameter(wav, "wav.beta")[1].view({-1, 2});
    const auto split = values(wav, "detail.beta.split");
    ASSERT_EQ(static_cast<int64_t>(split.size()), beta.size(0)) << mode;
    EXPECT_EQ(split.back(), beta[-1][1].item<double>()) << mode;
    EXPECT_EQ(values(wav, "detail.beta.phase").back(),
              beta[-1][0].item<double>());
  }
}

/// Counts operator calls that are not made by another one.
int64_t TopLevelCalls(const std::function<void()>& work) {
  static thread_local int64_t calls = 0;
  static thread_local int depth = 0;
  calls = 0;
  const auto handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback(
          [](const at::RecordFunction&)
              -> std::unique_ptr<at::ObserverContext> {
            if (depth++ == 0) ++calls;
            return nullptr;
          },
          [](const at::RecordFunction&, at::ObserverContext*) { --depth; })
          .scopes({at::RecordScope::FUNCTION}));
  work();
  at::removeCallback(handle);
  return calls;
}

TEST(Diagnosis, AsManyCallsForThreeReplicasAsForOne) {
  for (const char* method : {"wav", "prenorm"}) {
    const World one(method, 1);
    const World three(method, 3);
    EXPECT_EQ(TopLevelCalls([&] { three.Diagnosed(); }),
              TopLevelCalls([&] { one.Diagnosed(); }))
        << method;
  }
}

}  // namespace
}  // namespace leadline::model
