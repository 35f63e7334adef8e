// Parallel residual streams with learnt connections (arXiv:2409.19606).

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/methods/method.h"
#include "model/parameters.h"
#include "model/spec/settings.h"

namespace leadline::model {

/// With N = norm(h_s, g) of each stream, t = tanh(N Wa):
///
///   pre = pre0 + sa t_0,  A = A0 + sa t_1..M,  post = b0 + sb tanh(N Wb)
///   x = sum_s pre_s h_s,  h_t = sum_s A_{s,t} h_s + post_t u
///
/// Parameters `hc.<l>.{pre0, A0, b0}`, and with dynamic = on `.{Wa, Wb, sa, sb,
/// g}`; at the start it computes what plain pre-norm does. A pass keeps the
/// streams before every sublayer, 2L tensors [R, B, T, M, D].
class HyperConnections final : public ResidualMethod {
 public:
  HyperConnections(const spec::Settings& settings, const MethodSizes& sizes,
                   ParameterList& parameters);
  std::unique_ptr<DepthPass> Begin(const torch::Tensor& x_RBTD,
                                   RouterObserver* observer) const override;
  double StreamScale(int64_t sublayer) const override;

 private:
  struct Connections {
    torch::Tensor pre_RM;
    torch::Tensor mixing_RMM;
    torch::Tensor post_RM;
    // Undefined without dynamic connections:
    torch::Tensor wa_RDC;  // C = M + 1
    torch::Tensor wb_RD;
    torch::Tensor sa_R;
    torch::Tensor sb_R;
    torch::Tensor gain_RD;
  };

  torch::Tensor Coefficients(const Connections& c,
                             const torch::Tensor& h_RBTMD) const;

  int64_t streams_;
  double eps_;
  std::vector<Connections> sublayers_;
};

}  // namespace leadline::model
