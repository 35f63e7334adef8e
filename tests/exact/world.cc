#include "tests/exact/world.h"

#include <algorithm>

namespace leadline::exact {

using torch::Tensor;

spec::GivenSettings SmallSettings(const std::string& method, int64_t depth,
                                  const spec::GivenSettings& extra) {
  spec::GivenSettings given = {{"method", method},
                               {"depth", depth},
                               {"d_model", int64_t{16}},
                               {"n_heads", int64_t{2}},
                               {"d_ff", int64_t{24}},
                               {"context", int64_t{16}},
                               {"precision", std::string("fp64")}};
  for (const auto& [key, value] : extra) given[key] = value;
  return given;
}

spec::Settings Small(const std::string& method, int64_t depth,
                     const spec::GivenSettings& extra) {
  const spec::Resolution resolution =
      spec::Resolve(SmallSettings(method, depth, extra));
  for (const spec::SettingError& error : resolution.errors) {
    ADD_FAILURE() << method << ": " << error.key << ": " << error.message;
  }
  return resolution.settings;
}

std::vector<std::string> AllMethods() {
  std::vector<std::string> names;
  for (const spec::MethodInfo& method : spec::MethodTable()) {
    names.emplace_back(method.name);
  }
  return names;
}

std::vector<std::string> MethodsEqualAtStart() {
  std::vector<std::string> names;
  for (const spec::MethodInfo& method : spec::MethodTable()) {
    if (method.equals_prenorm_at_start.starts_with("yes")) {
      names.emplace_back(method.name);
    }
  }
  return names;
}

Text RandomText(int64_t replicas, int64_t seed, int64_t sequences,
                int64_t tokens) {
  torch::Generator generator = torch::make_generator<torch::CPUGeneratorImpl>(
      static_cast<uint64_t>(seed) + 77);
  const Tensor all = torch::randint(
      kVocabulary, {replicas, sequences, tokens + 1}, generator, torch::kInt64);
  return {all.slice(2, 0, tokens).contiguous(),
          all.slice(2, 1, tokens + 1).contiguous()};
}

std::vector<int64_t> SomeSeeds(int64_t replicas) {
  std::vector<int64_t> seeds(replicas);
  for (int64_t r = 0; r < replicas; ++r) seeds[r] = r + 1;
  return seeds;
}

PassResult RunPass(const model::Decoder& decoder, const Text& text) {
  for (const model::NamedParameter& p : decoder.parameters_in_order()) {
    p.tensor.mutable_grad() = Tensor();
  }
  PassResult result;
  const Tensor logits_RBTV = decoder.Forward(text.tokens_RBT);
  const Tensor loss_R =
      model::TokenLosses(logits_RBTV, text.targets_RBT).mean({1, 2});
  loss_R.sum().backward();
  result.logits_RBTV = logits_RBTV.detach();
  result.loss_R = loss_R.detach();
  for (const model::NamedParameter& p : decoder.parameters_in_order()) {
    result.gradients[p.name] = p.tensor.grad().defined()
                                   ? p.tensor.grad().clone()
                                   : torch::zeros_like(p.tensor);
  }
  return result;
}

void Shake(const model::Decoder& decoder, double std, int64_t seed) {
  const torch::NoGradGuard no_grad;
  torch::Generator generator = torch::make_generator<torch::CPUGeneratorImpl>(
      static_cast<uint64_t>(seed));
  for (const model::NamedParameter& p : decoder.parameters_in_order()) {
    Tensor values = p.tensor;
    values.add_(
        torch::randn(values.sizes(), generator, torch::kFloat64).to(values) *
        std);
  }
}

Tensor Parameter(const model::Decoder& decoder, const std::string& name) {
  for (const model::NamedParameter& p : decoder.parameters_in_order()) {
    if (p.name == name) return p.tensor;
  }
  ADD_FAILURE() << "no parameter " << name;
  return {};
}

void CopyShared(const model::Decoder& from, const model::Decoder& to) {
  const torch::NoGradGuard no_grad;
  for (const model::NamedParameter& p : to.parameters_in_order()) {
    for (const model::NamedParameter& q : from.parameters_in_order()) {
      if (p.name == q.name) Tensor(p.tensor).copy_(q.tensor);
    }
  }
}

double LogitError(const Tensor& a, const Tensor& b) {
  return ((a - b).abs().max() / b.abs().max()).item<double>();
}

double GradientError(const std::map<std::string, Tensor>& a,
                     const std::map<std::string, Tensor>& b) {
  double largest = 0;
  for (const auto& [name, value] : b) {
    largest = std::max(largest, value.norm().item<double>());
  }
  double worst = 0;
  for (const auto& [name, value] : b) {
    // A gradient that is nought by symmetry is all rounding.
    const double floor = value.scalar_type() == torch::kFloat ? 1e-3 : 1e-4;
    if (!a.contains(name)) {
      ADD_FAILURE() << "no gradient of " << name;
      continue;
    }
    const double scale = std::max(value.norm().item<double>(), floor * largest);
    worst = std::max(worst, (a.at(name) - value).norm().item<double>() / scale);
  }
  return worst;
}

}  // namespace leadline::exact
