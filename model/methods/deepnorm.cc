#include "model/methods/deepnorm.h"

#include <cmath>
#include <string>

#include "model/layers/norm.h"

namespace leadline::model {
namespace {

using torch::Tensor;

class Pass final : public DepthPass {
 public:
  Pass(const Tensor& x_RBTD, double alpha, double eps,
       const std::vector<Tensor>& gains_RD)
      : h_RBTD_(x_RBTD), alpha_(alpha), eps_(eps), gains_RD_(gains_RD) {}

  Tensor Read(int64_t) override { return h_RBTD_; }
  void Write(const Tensor& update_RBTD, int64_t sublayer) override {
    h_RBTD_ = RmsNorm(torch::add(update_RBTD, h_RBTD_, alpha_),
                      gains_RD_.at(sublayer), eps_);
  }
  Tensor Finish() override { return h_RBTD_; }

 private:
  Tensor h_RBTD_;
  double alpha_;
  double eps_;
  std::vector<Tensor> gains_RD_;
};

}  // namespace

DeepNorm::DeepNorm(const spec::Settings& settings, const MethodSizes& sizes,
                   ParameterList& parameters)
    : alpha_(std::pow(static_cast<double>(sizes.sublayers), 0.25)),
      eps_(settings.Number("norm_eps")) {
  for (int64_t l = 0; l < sizes.sublayers; ++l) {
    gains_RD_.push_back(
        parameters.Constant("layers." + std::to_string(l / 2) +
                                (l % 2 == 0 ? ".attn.norm.g" : ".mlp.norm.g"),
                            {sizes.width}, 1, {}));
  }
}

std::unique_ptr<DepthPass> DeepNorm::Begin(const Tensor& x_RBTD,
                                           RouterObserver*) const {
  return std::make_unique<Pass>(x_RBTD, alpha_, eps_, gains_RD_);
}

double DeepNorm::branch_divisor() const {
  return std::pow(4 * static_cast<double>(gains_RD_.size()), 0.25);
}

}  // namespace leadline::model
