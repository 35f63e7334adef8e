#include "tests/exact/pass_bench.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <gtest/gtest.h>

#include "model/methods/registry.h"
#include "tests/exact/world.h"

namespace leadline::exact {

using torch::Tensor;

namespace {

torch::Generator GeneratorOf(int64_t seed) {
  return torch::make_generator<torch::CPUGeneratorImpl>(
      static_cast<uint64_t>(seed));
}

}  // namespace

void Recorder::OnRoute(const model::RouteRecord& record) {
  records.push_back(record);
  for (Tensor& source : records.back().sources_RBTD) {
    if (source.defined()) source = source.clone();
  }
  records.back().weights_JRBT = record.weights_JRBT.clone();
  records.back().out_RBTD = record.out_RBTD.clone();
}

const model::RouteRecord& Recorder::At(int64_t q) const {
  static const model::RouteRecord kNone;
  for (const model::RouteRecord& record : records) {
    if (record.router == q) return record;
  }
  ADD_FAILURE() << "router " << q << " does not route";
  return kNone;
}

Tensor Recorder::Source(int64_t q, const std::string& label) const {
  const model::RouteRecord& record = At(q);
  for (size_t j = 0; j < record.labels.size(); ++j) {
    if (record.labels[j] == label) return record.sources_RBTD.at(j);
  }
  ADD_FAILURE() << "router " << q << " has no source " << label;
  return torch::zeros({1});
}

bool Recorder::Has(int64_t q, const std::string& label) const {
  const auto& labels = At(q).labels;
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

Bench::Bench(const spec::Settings& settings, int64_t replicas)
    : parameters(SomeSeeds(replicas), Doubles()),
      width_(settings.Integer("d_model")),
      sublayers_(2 * settings.depth()),
      replicas_(replicas),
      method_(model::MakeMethod(settings, {sublayers_, width_}, parameters)) {}

Recorder Bench::Run(const Tensor& e_RBTD,
                    const std::vector<Tensor>& updates) const {
  Recorder recorder;
  const auto pass = method_->Begin(e_RBTD, &recorder);
  for (int64_t l = 0; l < sublayers_; ++l) {
    recorder.reads_RBTD.push_back(pass->Read(l).detach());
    pass->Write(updates.at(l), l);
  }
  recorder.reads_RBTD.push_back(pass->Finish().detach());
  return recorder;
}

Tensor Bench::Loss(const Tensor& e_RBTD,
                   const std::vector<Tensor>& updates) const {
  const auto pass = method_->Begin(e_RBTD, nullptr);
  Tensor loss = torch::zeros({}, Doubles());
  for (int64_t l = 0; l < sublayers_; ++l) {
    loss = loss + (pass->Read(l) * Random(500 + l)).sum();
    pass->Write(updates.at(l), l);
  }
  return loss + (pass->Finish() * Random(499)).sum();
}

Tensor Bench::Random(int64_t seed) const {
  return torch::randn({replicas_, 2, 3, width_}, GeneratorOf(seed),
                      torch::kFloat64);
}

std::vector<Tensor> Bench::RandomUpdates() const {
  std::vector<Tensor> updates;
  for (int64_t l = 0; l < sublayers_; ++l) updates.push_back(Random(100 + l));
  return updates;
}

void Bench::SetQueries(double std) {
  const torch::NoGradGuard no_grad;
  torch::Generator generator = GeneratorOf(3);
  for (const model::NamedParameter& p : parameters.trained()) {
    if (p.name != "router.w") continue;
    Tensor(p.tensor).copy_(
        torch::randn(p.tensor.sizes(), generator, torch::kFloat64) * std);
  }
}

void Bench::Shake(double std) {
  const torch::NoGradGuard no_grad;
  torch::Generator generator = GeneratorOf(4);
  for (const model::NamedParameter& p : parameters.trained()) {
    Tensor(p.tensor).add_(
        torch::randn(p.tensor.sizes(), generator, torch::kFloat64) * std);
  }
}

double Error(const Tensor& a, const Tensor& b) {
  return ((a - b).abs().max() / b.abs().max()).item<double>();
}

double FiniteDifferenceError(
    const std::vector<model::NamedParameter>& parameters,
    const std::function<Tensor()>& loss) {
  constexpr double kStep = 1e-4;
  for (const model::NamedParameter& p : parameters) {
    p.tensor.mutable_grad() = Tensor();
  }
  loss().backward();
  std::map<std::string, std::pair<double, double>> slopes;
  double largest = 0;
  const torch::NoGradGuard no_grad;
  torch::Generator generator = GeneratorOf(6);
  for (const model::NamedParameter& p : parameters) {
    Tensor value = p.tensor;
    const Tensor direction =
        torch::randn(value.sizes(), generator, torch::kFloat64);
    const Tensor start = value.detach().clone();
    const auto at = [&](double steps) {
      value.copy_(start + direction * (steps * kStep));
      return loss().item<double>();
    };
    // Of fourth order: the loss bends strongly.
    const double quotient =
        (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * kStep);
    value.copy_(start);
    const double slope =
        p.tensor.grad().defined()
            ? (p.tensor.grad() * direction).sum().item<double>()
            : 0.0;
    slopes[p.name] = {slope, quotient};
    largest = std::max(largest, std::abs(quotient));
  }
  double worst = 0;
  for (const auto& [name, pair] : slopes) {
    const auto& [slope, quotient] = pair;
    const double scale = std::max(std::abs(quotient), 1e-4 * largest);
    worst = std::max(worst, std::abs(slope - quotient) / scale);
  }
  return worst;
}

}  // namespace leadline::exact
