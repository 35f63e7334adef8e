// X14 and X3 for whole models: each gradient is the derivative of the loss, and
// what the loss does not depend on has gradient exactly 0.
//
// Central differences of each replica's loss along random directions, in
// double, in steps of 1e-6 of a direction: 1e-6 of the gradient's norm is asked
// for, or of 1e-2 of the model's largest one, where the loss itself is rounded.
//
// Details are scaled by a factor that is held constant in gradients but not in
// the loss. So those models are looked at where it is constant: with rho = 1
// and updates that nearly point one way, every detail is shorter than its sum.

#include <regex>

#include "model/router/source_name.h"
#include "tests/exact/pass_bench.h"
#include "tests/exact/variants.h"
#include "tests/exact/world.h"

namespace leadline::exact {
namespace {

using model::Decoder;
using model::NamedParameter;
using torch::Tensor;

constexpr double kStep = 1e-6;
constexpr double kTolerance = 1e-6;
/// Of the largest gradient: below it rounding of the loss is all there is.
constexpr double kFloor = 1e-2;

bool HasScales(const Variant& variant) {
  return spec::BelongsTo(*spec::FindSetting("rho"), variant.method);
}

/// Makes every update nearly a positive multiple of (1, ..., 1).
void Align(const Decoder& decoder) {
  const torch::NoGradGuard no_grad;
  for (const NamedParameter& p : decoder.parameters_in_order()) {
    Tensor value = p.tensor;
    if (p.name == "embed") value.mul_(0.3).add_(1);
    if (p.name.ends_with(".wv") || p.name.ends_with(".wo") ||
        p.name.ends_with(".wd")) {
      value.mul_(0.3).add_(1).div_(static_cast<double>(value.size(1)));
    }
  }
  for (const NamedParameter& p : decoder.parameters_in_order()) {
    if (!p.name.ends_with(".wu")) continue;  // silu(z) z is never negative
    const std::string gate = p.name.substr(0, p.name.size() - 1) + "g";
    Tensor(p.tensor).copy_(Parameter(decoder, gate));
  }
}

/// The sum that a detail belongs to: C2 for Dphi2, P for Psig.
std::string SumOf(const std::string& detail) {
  if (detail.starts_with("P")) return "P";
  return "C" + detail.substr(detail.find_first_of("0123456789"));
}

/// Fails unless the factor of every detail is a constant around here.
void ExpectConstantScales(const Decoder& decoder, const Text& text) {
  const torch::NoGradGuard no_grad;
  Recorder seen;
  decoder.Forward(text.tokens_RBT, {.observer = &seen});
  for (const model::RouteRecord& record : seen.records) {
    const int64_t q = record.router;
    for (const std::string& label : record.labels) {
      if (!model::ReadSourceName(label).detail()) continue;
      const Tensor d = seen.Source(q, label).square().sum(-1);
      const Tensor c = seen.Source(q, SumOf(label)).square().sum(-1);
      ASSERT_TRUE((d.eq(c) | d.lt(0.999 * c)).all().item<bool>())
          << label << " of router " << q;
    }
  }
}

spec::Settings DerivativeSettings(const Case& c, spec::GivenSettings extra) {
  if (HasScales(c.variant)) extra["rho"] = 1.0;
  return SettingsOf(c.variant, c.depth, extra);
}

Decoder MakeShaken(const Case& c, const Text& text,
                   const spec::GivenSettings& extra) {
  Decoder decoder(DerivativeSettings(c, extra), kVocabulary,
                  SomeSeeds(c.replicas), Doubles());
  Shake(decoder, 0.2);
  if (HasScales(c.variant)) {
    Align(decoder);
    ExpectConstantScales(decoder, text);
  }
  return decoder;
}

Tensor Losses_R(const Decoder& decoder, const Text& text) {
  const torch::NoGradGuard no_grad;
  return model::TokenLosses(decoder.Forward(text.tokens_RBT), text.targets_RBT)
      .mean({1, 2});
}

/// Sums over all but the replicas.
Tensor SumOfReplica(const Tensor& x) {
  return x.reshape({x.size(0), -1}).sum(1);
}

/// Parameters that move together.
using Group = std::vector<NamedParameter>;

/// Adds step * direction to each.
void Move(const Group& group, const std::vector<Tensor>& directions,
          double step) {
  const torch::NoGradGuard no_grad;
  for (size_t i = 0; i < group.size(); ++i) {
    Tensor(group[i].tensor).add_(directions[i], step);
  }
}

/// Compares the gradient of a group with the difference of losses along one
/// direction, replica by replica.
void ExpectDerivative(const Decoder& decoder, const Text& text,
                      const PassResult& pass, const Group& group,
                      double floor) {
  torch::Generator generator =
      torch::make_generator<torch::CPUGeneratorImpl>(17);
  std::vector<Tensor> directions;
  Tensor expected_R = torch::zeros({decoder.replicas()}, Doubles());
  Tensor squares_R = expected_R.clone();
  for (const NamedParameter& p : group) {
    directions.push_back(
        torch::randn(p.tensor.sizes(), generator, torch::kFloat64));
    const Tensor& gradient = pass.gradients.at(p.name);
    expected_R += SumOfReplica(gradient * directions.back());
    squares_R += SumOfReplica(gradient.square());
  }
  std::vector<Tensor> before;
  for (const NamedParameter& p : group) before.push_back(p.tensor.clone());
  Move(group, directions, kStep);
  const Tensor above_R = Losses_R(decoder, text);
  Move(group, directions, -2 * kStep);
  const Tensor below_R = Losses_R(decoder, text);
  for (size_t i = 0; i < group.size(); ++i) {
    const torch::NoGradGuard no_grad;
    Tensor(group[i].tensor).copy_(before[i]);
  }
  const Tensor numeric_R = (above_R - below_R) / (2 * kStep);
  const Tensor limit_R = kTolerance * squares_R.sqrt().clamp_min(floor);
  EXPECT_LE(((numeric_R - expected_R) / limit_R).abs().max().item<double>(), 1)
      << group[0].name << ": " << expected_R << " is not " << numeric_R;
}

double LargestGradient(const PassResult& pass) {
  double largest = 0;
  for (const auto& [name, gradient] : pass.gradients) {
    largest = std::max(largest, gradient.norm().item<double>());
  }
  return largest;
}

/// Compares all gradients; tensors for which `key` is the same move together.
template <typename Key>
void ExpectDerivatives(const Case& c, const spec::GivenSettings& extra,
                       const Key& key) {
  const Text text = RandomText(c.replicas, 0, 1, 4);
  const Decoder decoder = MakeShaken(c, text, extra);
  if (testing::Test::HasFatalFailure()) return;
  const PassResult pass = RunPass(decoder, text);
  std::map<std::string, Group> groups;
  for (const NamedParameter& p : decoder.parameters_in_order()) {
    groups[key(p)].push_back(p);
  }
  const double floor = kFloor * LargestGradient(pass);
  for (const auto& [name, group] : groups) {
    ExpectDerivative(decoder, text, pass, group, floor);
  }
}

class Derivatives : public testing::TestWithParam<Case> {};

TEST_P(Derivatives, X14EveryGradientIsTheDerivativeOfTheLoss) {
  const Case& c = GetParam();
  ExpectDerivatives(c, {}, [&](const NamedParameter& p) {
    // By tensor in the shallow ones, else all layers at once.
    return c.depth == 2 ? p.name
                        : std::regex_replace(p.name, std::regex("[0-9]+"), "i");
  });
}

/// A slice of a parameter, one a router or layer, and the same of its gradient.
struct Slice {
  std::string name;
  Tensor value;
  Tensor gradient;
};

std::vector<Slice> SlicesOfMethod(const Decoder& decoder,
                                  const PassResult& pass) {
  std::vector<Slice> slices;
  for (const NamedParameter& p : decoder.parameters_in_order()) {
    if (!p.of_method || p.tensor.dim() < 2) continue;
    for (int64_t i = 0; i < p.tensor.size(1); ++i) {
      slices.push_back({p.name + "[" + std::to_string(i) + "]",
                        p.tensor.detach().select(1, i),
                        pass.gradients.at(p.name).select(1, i)});
    }
  }
  return slices;
}

TEST_P(Derivatives, X3WhatTheLossDoesNotDependOnHasGradientZero) {
  const Case& c = GetParam();
  if (c.depth != 2) return;
  const Text text = RandomText(c.replicas, 0, 1, 4);
  const Decoder decoder = MakeShaken(c, text, {});
  const PassResult pass = RunPass(decoder, text);
  const Tensor loss_R = Losses_R(decoder, text);
  for (const Slice& slice : SlicesOfMethod(decoder, pass)) {
    const Tensor before = slice.value.clone();
    torch::Generator generator =
        torch::make_generator<torch::CPUGeneratorImpl>(18);
    Tensor(slice.value)
        .add_(torch::randn(before.sizes(), generator, torch::kFloat64));
    const bool matters = !torch::equal(Losses_R(decoder, text), loss_R);
    Tensor(slice.value).copy_(before);
    const double gradient = slice.gradient.abs().max().item<double>();
    if (matters) {
      EXPECT_GT(gradient, 0) << slice.name;
    } else if (slice.name.starts_with("router.")) {
      EXPECT_EQ(gradient, 0) << slice.name;
    } else {  // what cancels leaves rounding
      EXPECT_LE(gradient, 1e-12) << slice.name;
    }
  }
}

/// Plain variants with their block lengths, and at depth 2 all others.
std::vector<Case> DerivativeCases() {
  std::vector<Case> cases;
  for (const Case& c : Cases()) {
    if (c.depth != 12 || c.replicas == 1) cases.push_back(c);
  }
  for (const Variant& variant : Variants(2)) {
    if (!variant.options.empty()) cases.push_back({variant, 2, 3});
  }
  std::erase_if(cases, [](const Case& c) {
    const bool plain =
        c.variant.options.size() == c.variant.options.count("block_sublayers");
    return c.depth == 5 &&
           (c.replicas == 1 || (!plain && HasScales(c.variant)));
  });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Registry, Derivatives,
                         testing::ValuesIn(DerivativeCases()),
                         [](const auto& info) { return NameOf(info.param); });

class DeepDerivatives : public testing::TestWithParam<Case> {};

TEST_P(DeepDerivatives, X14GradientsOf48LayersAreDerivatives) {
  ExpectDerivatives(GetParam(), {{"d_model", int64_t{8}}, {"d_ff", int64_t{8}}},
                    [](const NamedParameter& p) {
                      return std::string(p.of_method ? "method" : "base");
                    });
}

std::vector<Case> DeepCases() {
  std::vector<Case> cases;
  for (const Variant& plain : PlainVariants()) cases.push_back({plain, 48, 1});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Registry, DeepDerivatives,
                         testing::ValuesIn(DeepCases()),
                         [](const auto& info) { return NameOf(info.param); });

}  // namespace
}  // namespace leadline::exact
