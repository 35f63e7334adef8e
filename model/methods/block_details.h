// Block sums with signed sums beside them: what wav and haares share.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/methods/block_sources.h"
#include "model/methods/method.h"
#include "model/methods/routers.h"
#include "model/parameters.h"
#include "model/spec/settings.h"

namespace leadline::model {

/// The logit bias of details.
enum class DetailBiasMode { kPerRouter, kShared, kFixed };

DetailBiasMode DetailBiasModeOf(const spec::Settings& settings);

/// False where `details` or `detail_bias` leave them out.
bool HasDetails(const spec::Settings& settings);

/// As BlockAttnRes; after each block's sum C its details D, with a logit bias
/// and values scaled, without gradient, by min(rms(C)/rms(D), rho). The readout
/// sees no details.
class BlockDetails : public ResidualMethod {
 public:
  std::unique_ptr<DepthPass> Begin(const torch::Tensor& x_RBTD,
                                   RouterObserver* observer) const override;
  double StreamScale(int64_t sublayer) const override;

 protected:
  struct Form {
    std::string bias_name;  // [R, n, k], k details; [R, k] if shared
    DetailBiasMode bias_mode = DetailBiasMode::kPerRouter;
    bool only_detail = false;  // k = 1, and the bias has no such axis
    std::vector<BlockBasis> details;
  };

  BlockDetails(const spec::Settings& settings, const MethodSizes& sizes,
               ParameterList& parameters, const Form& form);

 private:
  std::vector<torch::Tensor> Biases() const;

  BlockGrid grid_;
  double eps_;
  double rho_;
  std::vector<BlockBasis> bases_;
  Routers routers_;
  DetailBiasMode bias_mode_;
  bool only_detail_;
  torch::Tensor beta_;  // undefined: no details
};

}  // namespace leadline::model
