#include "worker/trainer/adam_w.h"

#include <cmath>
#include <utility>

#include "worker/trainer/adam_w_kernel.h"

namespace leadline::trainer {

using model::NamedParameter;
using torch::Tensor;

namespace {

bool CanLoop(const Tensor& parameter) {
  return parameter.is_cpu() && parameter.is_contiguous();
}

// [R] as [R, 1, ..., 1] beside `like`.
Tensor Beside(const Tensor& value_R, const Tensor& like) {
  std::vector<int64_t> shape(like.dim(), 1);
  shape[0] = value_R.size(0);
  return value_R.view(shape);
}

double SquaresOfReplica(const Tensor& gradient, int64_t r) {
  const int64_t count = gradient.numel() / gradient.size(0);
  return gradient.scalar_type() == torch::kFloat64
             ? SumOfSquares(gradient.const_data_ptr<double>() + r * count,
                            count)
             : SumOfSquares(gradient.const_data_ptr<float>() + r * count,
                            count);
}

template <typename Real>
void UpdateReplica(const Tensor& value, const Tensor& moment1,
                   const Tensor& moment2, const Tensor& gradient, int64_t r,
                   const AdamWCoefficients& coefficients) {
  const int64_t count = value.numel() / value.size(0);
  const int64_t at = r * count;
  UpdateAdamW(value.mutable_data_ptr<Real>() + at,
              moment1.mutable_data_ptr<Real>() + at,
              moment2.mutable_data_ptr<Real>() + at,
              gradient.const_data_ptr<Real>() + at, count, coefficients);
}

std::vector<NamedParameter> Trained(std::vector<NamedParameter> parameters,
                                    const spec::Settings& settings) {
  if (settings.IsOn("freeze_base")) {
    std::erase_if(parameters,
                  [](const NamedParameter& p) { return !p.of_method; });
  }
  return parameters;
}

}  // namespace

AdamW::AdamW(const std::vector<NamedParameter>& parameters,
             const spec::Settings& settings)
    : parameters_(Trained(parameters, settings)),
      loops_(true),
      beta1_(settings.Number("beta1")),
      beta2_(settings.Number("beta2")),
      eps_(settings.Number("adam_eps")),
      weight_decay_(settings.Number("weight_decay")),
      router_lr_mult_(settings.Has("router_lr_mult")
                          ? settings.Number("router_lr_mult")
                          : 1.0),
      decay_all_(settings.IsOn("decay_all")),
      clip_(settings.NumberUnlessWord("clip")) {
  for (const NamedParameter& parameter : parameters_) {
    moments1_.push_back(torch::zeros_like(parameter.tensor.detach()));
    moments2_.push_back(torch::zeros_like(parameter.tensor.detach()));
    loops_ = loops_ && CanLoop(parameter.tensor);
  }
}

double AdamW::Decay(const NamedParameter& parameter) const {
  return parameter.decay || decay_all_ ? weight_decay_ : 0.0;
}

Tensor AdamW::GradientNorms_R() const {
  const Tensor& first = parameters_.front().tensor;
  const int64_t replicas = first.size(0);
  if (loops_) {
    Tensor norms_R = torch::zeros({replicas}, torch::kFloat64);
    auto* norms = norms_R.mutable_data_ptr<double>();
    for (const NamedParameter& parameter : parameters_) {
      if (!parameter.tensor.grad().defined()) continue;
      const Tensor gradient = parameter.tensor.grad().contiguous();
      for (int64_t r = 0; r < replicas; ++r) {
        norms[r] += SquaresOfReplica(gradient, r);
      }
    }
    return norms_R.sqrt_();
  }
  std::vector<Tensor> norms_R;
  for (const NamedParameter& parameter : parameters_) {
    const Tensor& gradient = parameter.tensor.grad();
    if (!gradient.defined()) continue;
    norms_R.push_back(
        at::linalg_vector_norm(gradient.reshape({replicas, -1}), 2, {{1}}));
  }
  if (norms_R.empty()) {
    return torch::zeros({replicas}, first.options().dtype(torch::kFloat64));
  }
  return at::linalg_vector_norm(torch::stack(norms_R).to(torch::kFloat64), 2,
                                {{0}});
}

Tensor AdamW::ClipFactors_R(const Tensor& norms_R) const {
  if (!clip_) return torch::ones_like(norms_R);
  return torch::clamp_max(*clip_ / (norms_R + 1e-6), 1.0);
}

void AdamW::Step(const Tensor& factors_R, const Tensor& alive_R,
                 double learning_rate, int64_t step) {
  const torch::NoGradGuard no_grad;
  if (loops_) {
    StepByLoops(factors_R, alive_R, learning_rate, step);
  } else {
    StepPortable(factors_R, alive_R, learning_rate, step);
  }
}

double AdamW::RateFactor(const NamedParameter& parameter) const {
  return (parameter.of_method ? router_lr_mult_ : 1.0) * parameter.rate;
}

void AdamW::StepByLoops(const Tensor& factors_R, const Tensor& alive_R,
                        double learning_rate, int64_t step) {
  const auto* factors = factors_R.const_data_ptr<double>();
  const auto* alive = alive_R.const_data_ptr<bool>();
  AdamWCoefficients c{.beta1 = beta1_,
                      .beta2 = beta2_,
                      .correction1 = 1 - std::pow(beta1_, step + 1),
                      .correction2 = 1 - std::pow(beta2_, step + 1),
                      .eps = eps_};
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const NamedParameter& parameter = parameters_[i];
    const Tensor gradient = parameter.tensor.grad().defined()
                                ? parameter.tensor.grad().contiguous()
                                : torch::zeros_like(moments1_[i]);
    c.decay = Decay(parameter);
    c.rate = learning_rate * RateFactor(parameter);
    for (int64_t r = 0; r < parameter.tensor.size(0); ++r) {
      if (!alive[r]) continue;
      c.factor = factors[r];
      if (parameter.tensor.scalar_type() == torch::kFloat64) {
        UpdateReplica<double>(parameter.tensor, moments1_[i], moments2_[i],
                              gradient, r, c);
      } else {
        UpdateReplica<float>(parameter.tensor, moments1_[i], moments2_[i],
                             gradient, r, c);
      }
    }
  }
}

void AdamW::StepPortable(const Tensor& factors_R, const Tensor& alive_R,
                         double learning_rate, int64_t step) {
  const double correction1 = 1 - std::pow(beta1_, step + 1);
  const double correction2 = 1 - std::pow(beta2_, step + 1);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const NamedParameter& parameter = parameters_[i];
    const Tensor value = parameter.tensor.detach();
    const Tensor& moment1 = moments1_[i];
    const Tensor& moment2 = moments2_[i];
    const double rate = learning_rate * RateFactor(parameter);
    const Tensor gradient =
        parameter.tensor.grad().defined()
            ? parameter.tensor.grad() *
                  Beside(factors_R.to(value.scalar_type()), value)
            : torch::zeros_like(value);
    const Tensor alive = Beside(alive_R, value);
    const Tensor new1 = moment1 * beta1_ + gradient * (1 - beta1_);
    const Tensor new2 = moment2 * beta2_ + gradient * gradient * (1 - beta2_);
    const Tensor change =
        new1 / ((new2 / correction2).sqrt_() + eps_) * (rate / correction1);
    const Tensor moved = value * (1 - rate * Decay(parameter)) - change;
    // A product with 0 would keep a NaN alive.
    value.copy_(torch::where(alive, moved, value));
    moment1.copy_(torch::where(alive, new1, moment1));
    moment2.copy_(torch::where(alive, new2, moment2));
  }
}

}  // namespace leadline::trainer
