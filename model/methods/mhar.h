// Attention residuals with several heads a router (arXiv:2607.27230).

#pragma once

#include <memory>

#include "model/methods/method.h"
#include "model/parameters.h"
#include "model/spec/settings.h"

namespace leadline::model {

/// AttnRes (`base = full`) or BlockAttnRes (`base = block`) whose routers cut
/// the width into `router_heads` slices, each with a softmax of its own. It has
/// their parameters and keeps what they keep, and G weights a source.
class Mhar final : public ResidualMethod {
 public:
  Mhar(const spec::Settings& settings, const MethodSizes& sizes,
       ParameterList& parameters);
  std::unique_ptr<DepthPass> Begin(const torch::Tensor& x_RBTD,
                                   RouterObserver* observer) const override {
    return base_->Begin(x_RBTD, observer);
  }
  double StreamScale(int64_t sublayer) const override {
    return base_->StreamScale(sublayer);
  }

 private:
  std::unique_ptr<ResidualMethod> base_;
};

}  // namespace leadline::model
