#include "worker/trainer/adam_w.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace leadline::trainer {
namespace {

using model::NamedParameter;
using torch::Tensor;

spec::Settings SettingsWith(spec::GivenSettings given) {
  given["method"] = "prenorm";
  given["weight_decay"] = 0.1;
  return spec::Resolve(given).settings;
}

std::vector<NamedParameter> MakeParameters(torch::ScalarType type) {
  torch::manual_seed(1);
  std::vector<NamedParameter> parameters = {
      {"matrix", torch::randn({3, 5, 7}, type), true, false},
      {"gain", torch::randn({3, 37}, type), false, false},
      {"router", torch::randn({3, 4}, type), false, true},
      {"unused", torch::randn({3, 2}, type), true, true}};
  for (NamedParameter& parameter : parameters) {
    parameter.tensor.set_requires_grad(true);
  }
  return parameters;
}

void SetGradients(std::vector<NamedParameter>& parameters) {
  for (NamedParameter& parameter : parameters) {
    if (parameter.name == "unused") continue;
    parameter.tensor.mutable_grad() = torch::randn_like(parameter.tensor);
  }
}

Tensor Alive() { return torch::tensor({true, false, true}); }

TEST(AdamWTest, LoopsAgreeWithTensorOperations) {
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    auto loops = MakeParameters(type);
    auto portable = MakeParameters(type);
    AdamW by_loops(loops, SettingsWith({}));
    AdamW by_operations(portable, SettingsWith({}));
    by_operations.UsePortable();
    for (int64_t step = 0; step < 5; ++step) {
      torch::manual_seed(step);
      SetGradients(loops);
      torch::manual_seed(step);
      SetGradients(portable);
      const Tensor norms_R = by_loops.GradientNorms_R();
      const double close = type == torch::kFloat64 ? 1e-13 : 1e-6;
      EXPECT_TRUE(norms_R.allclose(by_operations.GradientNorms_R(), close));
      const Tensor factors_R = by_loops.ClipFactors_R(norms_R);
      by_loops.Step(factors_R, Alive(), 1e-2, step);
      by_operations.Step(factors_R, Alive(), 1e-2, step);
      for (size_t i = 0; i < loops.size(); ++i) {
        EXPECT_TRUE(loops[i].tensor.allclose(portable[i].tensor, close, close))
            << loops[i].name << " " << step;
      }
    }
  }
}

TEST(AdamWTest, FollowsTheFormula) {
  std::vector<NamedParameter> parameters = {
      {"p", torch::full({1, 1}, 2.0, torch::kFloat64), true, false}};
  parameters[0].tensor.set_requires_grad(true);
  AdamW optimizer(parameters, SettingsWith({}));
  double p = 2;
  double m = 0;
  double v = 0;
  for (int t = 0; t < 3; ++t) {
    const double g = 0.3 * (t + 1);
    parameters[0].tensor.mutable_grad() =
        torch::full({1, 1}, g, torch::kFloat64);
    const Tensor norm_R = optimizer.GradientNorms_R();
    EXPECT_DOUBLE_EQ(norm_R.item<double>(), g);
    optimizer.Step(optimizer.ClipFactors_R(norm_R), torch::tensor({true}), 0.01,
                   t);
    const double clipped = g * std::min(1.0, 1.0 / (g + 1e-6));
    p -= 0.01 * 0.1 * p;
    m = 0.9 * m + 0.1 * clipped;
    v = 0.95 * v + 0.05 * clipped * clipped;
    p -= 0.01 * (m / (1 - std::pow(0.9, t + 1))) /
         (std::sqrt(v / (1 - std::pow(0.95, t + 1))) + 1e-8);
    EXPECT_NEAR(parameters[0].tensor.item<double>(), p, 1e-14);
  }
}

TEST(AdamWTest, AParameterLearnsAtItsOwnFactorOfItsRate) {
  for (const bool portable : {false, true}) {
    std::vector<NamedParameter> parameters;
    for (const double rate : {1.0, 0.25}) {
      parameters.push_back(
          {"p", torch::zeros({1, 1}, torch::kFloat64), false, true, rate});
      parameters.back().tensor.set_requires_grad(true);
      parameters.back().tensor.mutable_grad() =
          torch::ones({1, 1}, torch::kFloat64);
    }
    AdamW optimizer(parameters, SettingsWith({}));
    if (portable) optimizer.UsePortable();
    optimizer.Step(torch::ones({1}, torch::kFloat64), torch::tensor({true}),
                   0.01, 0);
    EXPECT_NEAR(parameters[0].tensor.item<double>(), -0.01, 1e-9);
    EXPECT_DOUBLE_EQ(parameters[1].tensor.item<double>(),
                     0.25 * parameters[0].tensor.item<double>());
  }
}

TEST(AdamWTest, OnlyTheMethodsOwnParametersLearnAtTheRouterRate) {
  spec::GivenSettings given = {{"method", "block_attnres"},
                               {"weight_decay", 0.0},
                               {"router_lr_mult", 3.0}};
  auto parameters = MakeParameters(torch::kFloat64);
  std::vector<Tensor> before;
  for (const NamedParameter& parameter : parameters) {
    before.push_back(parameter.tensor.detach().clone());
  }
  AdamW optimiser(parameters, spec::Resolve(given).settings);
  SetGradients(parameters);
  optimiser.Step(torch::ones({3}, torch::kFloat64),
                 torch::ones({3}, torch::kBool), 1e-2, 0);
  // The first step is of the size of the rate, whatever the gradient.
  for (size_t i = 0; i < 3; ++i) {
    const double rate = parameters[i].of_method ? 3e-2 : 1e-2;
    const Tensor moved = (parameters[i].tensor.detach() - before[i]).abs();
    EXPECT_TRUE(torch::allclose(moved, torch::full_like(moved, rate), 1e-4))
        << parameters[i].name;
  }
}

TEST(AdamWTest, ReplicaThatHasEndedKeepsItsBitsAndTouchesNoOther) {
  for (const bool portable : {false, true}) {
    auto parameters = MakeParameters(torch::kFloat32);
    auto undisturbed = MakeParameters(torch::kFloat32);
    AdamW optimizer(parameters, SettingsWith({}));
    AdamW reference(undisturbed, SettingsWith({}));
    if (portable) {
      optimizer.UsePortable();
      reference.UsePortable();
    }
    torch::manual_seed(3);
    SetGradients(parameters);
    torch::manual_seed(3);
    SetGradients(undisturbed);
    const Tensor before = parameters[0].tensor.detach()[1].clone();
    parameters[0].tensor.mutable_grad()[1].fill_(
        std::numeric_limits<float>::quiet_NaN());
    const Tensor norms_R = optimizer.GradientNorms_R();
    EXPECT_TRUE(std::isnan(norms_R[1].item<double>()));
    optimizer.Step(optimizer.ClipFactors_R(norms_R), Alive(), 1e-2, 0);
    reference.Step(reference.ClipFactors_R(reference.GradientNorms_R()),
                   torch::tensor({true, true, true}), 1e-2, 0);
    EXPECT_TRUE(parameters[0].tensor.detach()[1].equal(before));
    for (const int64_t r : {0, 2}) {
      EXPECT_TRUE(parameters[0].tensor[r].equal(undisturbed[0].tensor[r]));
    }
  }
}

TEST(AdamWTest, DecayReachesItsGroupAloneOrAll) {
  for (const bool all : {false, true}) {
    auto parameters = MakeParameters(torch::kFloat64);
    const Tensor gain = parameters[1].tensor.detach().clone();
    AdamW optimizer(parameters,
                    SettingsWith({{"decay_all", all ? "on" : "off"}}));
    const Tensor ones_R = torch::ones({3}, torch::kFloat64);
    optimizer.Step(ones_R, torch::tensor({true, true, true}), 0.5, 0);
    // Without gradients only the decay moves anything.
    EXPECT_TRUE(parameters[1].tensor.allclose(gain * (all ? 0.95 : 1.0)));
  }
}

TEST(AdamWTest, ClippingIsOffWhereTheSettingSaysSo) {
  auto parameters = MakeParameters(torch::kFloat32);
  AdamW optimizer(parameters, SettingsWith({{"clip", "off"}}));
  const Tensor norms_R = torch::tensor({1e3, 1.0, 0.0}, torch::kFloat64);
  EXPECT_TRUE(
      optimizer.ClipFactors_R(norms_R).equal(torch::ones_like(norms_R)));
}

}  // namespace
}  // namespace leadline::trainer
