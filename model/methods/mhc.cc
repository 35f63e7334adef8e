#include "model/methods/mhc.h"

#include <cmath>
#include <string>

#include "model/methods/streams_pass.h"
#include "model/streams/normed_projection.h"
#include "model/streams/permutations.h"
#include "model/streams/sinkhorn.h"

namespace leadline::model {
namespace {

using torch::Tensor;

constexpr double kScale = 0.01;  // alpha at the start
constexpr double kReadMost = 1;  // logit of the stream that is read most
constexpr double kFar = -8;      // logit of what hardly takes part

/// A stream of its own is read most by each sublayer: were all read alike, they
/// would stay equal for ever.
Tensor ReadStart(int64_t streams, int64_t sublayer) {
  Tensor start_M = torch::full({streams}, -kReadMost);
  start_M[sublayer % streams] = kReadMost;
  return start_M;
}

/// 0 at the identity, far below elsewhere.
Tensor ResidualStart(int64_t streams, const Tensor& permutations_KMM) {
  if (!permutations_KMM.defined()) {
    return torch::full({streams, streams}, kFar).fill_diagonal_(0);
  }
  Tensor start_K = torch::full({permutations_KMM.size(0)}, kFar);
  start_K[0] = 0;
  return start_K;
}

}  // namespace

Mhc::Mhc(const spec::Settings& settings, const MethodSizes& sizes,
         ParameterList& parameters)
    : streams_(settings.Integer("streams")), eps_(settings.Number("norm_eps")) {
  constexpr ParameterGroup kGroup{.of_method = true};
  if (settings.Word("residual") == "permutations") {
    permutations_KMM_ = PermutationMatrices(streams_);
  }
  const Tensor residual_start = ResidualStart(streams_, permutations_KMM_);
  const int64_t columns = 2 * streams_ + residual_start.numel();
  for (int64_t l = 0; l < sizes.sublayers; ++l) {
    const std::string name = "mhc." + std::to_string(l);
    Connections c;
    c.phi_REC = parameters.Constant(
        name + ".phi", {streams_ * sizes.width, columns}, 0, kGroup);
    c.alpha_R3 = parameters.Constant(name + ".alpha", {3}, kScale, kGroup);
    c.pre_RM = parameters.Given(name + ".bpre", ReadStart(streams_, l), kGroup);
    c.post_RM = parameters.Constant(name + ".bpost", {streams_}, 0, kGroup);
    c.residual_RC = parameters.Given(name + ".bres", residual_start, kGroup);
    sublayers_.push_back(std::move(c));
  }
  if (permutations_KMM_.defined() && !sublayers_.empty()) {
    permutations_KMM_ = permutations_KMM_.to(sublayers_[0].phi_REC.options());
  }
}

Tensor Mhc::Coefficients(const Connections& c, const Tensor& h_RBTMD) const {
  const torch::IntArrayRef sizes = h_RBTMD.sizes();
  const Tensor c_RBTC =
      NormedProjection(h_RBTMD.flatten(1, 2).flatten(2, 3), c.phi_REC, eps_)
          .view({sizes[0], sizes[1], sizes[2], -1});
  const std::vector<Tensor> moved = c_RBTC.split_with_sizes(
      {streams_, streams_, c_RBTC.size(-1) - 2 * streams_}, -1);
  const auto logits = [&](int64_t i, const Tensor& bias_RC) {
    const auto beside = [](const Tensor& x_RC) {
      return x_RC.unsqueeze(1).unsqueeze(1);
    };
    return torch::addcmul(beside(bias_RC), moved[i],
                          beside(c.alpha_R3.narrow(1, i, 1)));
  };
  const Tensor pre_RBTM = logits(0, c.pre_RM).sigmoid();
  const Tensor post_RBTM = 2 * logits(1, c.post_RM).sigmoid();
  Tensor mixing_RBTMM;
  if (permutations_KMM_.defined()) {
    mixing_RBTMM = torch::matmul(logits(2, c.residual_RC).softmax(-1),
                                 permutations_KMM_.flatten(1, 2))
                       .unflatten(-1, {streams_, streams_});
  } else {
    mixing_RBTMM = Sinkhorn(logits(2, c.residual_RC.flatten(1, 2))
                                .unflatten(-1, {streams_, streams_}));
  }
  return torch::cat(
      {pre_RBTM.unsqueeze(-1), mixing_RBTMM, post_RBTM.unsqueeze(-1)}, -1);
}

std::unique_ptr<DepthPass> Mhc::Begin(const Tensor& x_RBTD,
                                      RouterObserver* observer) const {
  return std::make_unique<StreamsPass>(
      x_RBTD, streams_, observer, [this](int64_t l, const Tensor& h_RBTMD) {
        return Coefficients(sublayers_.at(l), h_RBTMD);
      });
}

double Mhc::StreamScale(int64_t sublayer) const {
  const auto streams = static_cast<double>(streams_);
  if (sublayer == static_cast<int64_t>(sublayers_.size())) return streams;
  const double most = 1 / (1 + std::exp(-kReadMost));
  return most + (streams - 1) * (1 - most);
}

}  // namespace leadline::model
