// Hyper-connections whose mixing matrix is doubly stochastic
// (arXiv:2512.24880).

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/methods/method.h"
#include "model/parameters.h"
#include "model/spec/settings.h"

namespace leadline::model {

/// With c = phi^T norm(all streams as one vector):
///
///   pre = sigmoid(alpha_0 c + bpre),  post = 2 sigmoid(alpha_1 c + bpost)
///   A = Sinkhorn(exp(alpha_2 c + bres))
///
/// or, with residual = permutations (mHC-lite, arXiv:2601.05732), A = sum_k
/// softmax_k(alpha_2 c + bres) P_k over all permutation matrices. Parameters
/// `mhc.<l>.{phi, alpha, bpre, bpost, bres}`; at the start it computes what
/// plain pre-norm does. A pass keeps the streams before every sublayer, 2L
/// tensors [R, B, T, M, D].
class Mhc final : public ResidualMethod {
 public:
  Mhc(const spec::Settings& settings, const MethodSizes& sizes,
      ParameterList& parameters);
  std::unique_ptr<DepthPass> Begin(const torch::Tensor& x_RBTD,
                                   RouterObserver* observer) const override;
  double StreamScale(int64_t sublayer) const override;

 private:
  struct Connections {
    torch::Tensor phi_REC;   // E = M D, C = 2 M + columns of the residual
    torch::Tensor alpha_R3;  // of pre, post, residual
    torch::Tensor pre_RM;
    torch::Tensor post_RM;
    torch::Tensor residual_RC;  // or [R, M, M]
  };

  torch::Tensor Coefficients(const Connections& c,
                             const torch::Tensor& h_RBTMD) const;

  int64_t streams_;
  double eps_;
  torch::Tensor permutations_KMM_;  // undefined: Sinkhorn
  std::vector<Connections> sublayers_;
};

}  // namespace leadline::model
