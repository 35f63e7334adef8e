#include "model/methods/denseformer.h"

#include <string>

#include "model/router/weighted_sum.h"

namespace leadline::model {
namespace {

using torch::Tensor;

/// Sources bring a 1/rms that averages have no use for: any eps will do.
constexpr double kAnyEps = 1;

class Pass final : public DepthPass {
 public:
  Pass(const Tensor& x_RBTD, int64_t dilation,
       const std::vector<Tensor>& weights_RJ)
      : dilation_(dilation), weights_RJ_(weights_RJ) {
    h_RBTD_ = Keep(x_RBTD);
  }

  Tensor Read(int64_t) override { return h_RBTD_; }

  void Write(const Tensor& update_RBTD, int64_t sublayer) override {
    h_RBTD_ = h_RBTD_ + update_RBTD;
    if (sublayer % 2 == 0) return;
    h_RBTD_ = Keep(h_RBTD_);
    const Tensor& weights_RJ = weights_RJ_.at(sublayer / 2);
    if (!weights_RJ.defined()) return;
    std::vector<Source> averaged;
    const auto newest = static_cast<int64_t>(states_.size()) - 1;
    for (int64_t j = newest % dilation_; j <= newest; j += dilation_) {
      averaged.push_back(states_[j]);
    }
    h_RBTD_ = WeightedSum(averaged, weights_RJ);
  }

  Tensor Finish() override { return h_RBTD_; }

 private:
  /// Returns the state as its readers are to take it.
  Tensor Keep(const Tensor& x_RBTD) {
    states_.push_back(
        MakeSource(x_RBTD, kAnyEps, "X" + std::to_string(states_.size())));
    return states_.back().value_RBTD;
  }

  int64_t dilation_;
  std::vector<Tensor> weights_RJ_;
  std::vector<Source> states_;
  Tensor h_RBTD_;
};

}  // namespace

DenseFormer::DenseFormer(const spec::Settings& settings,
                         const MethodSizes& sizes, ParameterList& parameters)
    : dilation_(settings.Integer("dilation")) {
  const int64_t period = settings.Integer("period");
  for (int64_t i = 0; i < sizes.sublayers / 2; ++i) {
    if ((i + 1) % period != 0) {
      weights_RJ_.emplace_back();
      continue;
    }
    Tensor start_J = torch::zeros({(i + 1 + dilation_) / dilation_});
    start_J[-1] = 1;
    weights_RJ_.push_back(parameters.Given("dwa." + std::to_string(i), start_J,
                                           {.of_method = true}));
  }
}

std::unique_ptr<DepthPass> DenseFormer::Begin(const Tensor& x_RBTD,
                                              RouterObserver*) const {
  return std::make_unique<Pass>(x_RBTD, dilation_, weights_RJ_);
}

}  // namespace leadline::model
