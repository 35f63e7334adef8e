// Routers that add to the plain stream (arXiv:2605.18855): what the delta
// methods share.

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <torch/torch.h>

#include "model/methods/null_sources.h"
#include "model/methods/routers.h"
#include "model/parameters.h"
#include "model/spec/settings.h"

namespace leadline::model {

/// The plain stream of one pass, h = e + u_0 + ... + u_{l-1}, and its routers.
class DeltaStream {
 public:
  DeltaStream(const torch::Tensor& x_RBTD, RouterPass routers,
              std::vector<torch::Tensor> gates, std::vector<NullSource> nulls)
      : h_RBTD_(x_RBTD),
        routers_(std::move(routers)),
        gates_(std::move(gates)),
        nulls_(std::move(nulls)) {}

  /// h + gamma_l route(candidates).
  torch::Tensor Read(int64_t sublayer,
                     const std::vector<Candidate>& candidates) const;
  void Add(const torch::Tensor& update_RBTD) {
    h_RBTD_ = h_RBTD_ + update_RBTD;
  }
  const torch::Tensor& value_RBTD() const { return h_RBTD_; }

 private:
  torch::Tensor h_RBTD_;
  RouterPass routers_;
  std::vector<torch::Tensor> gates_;  // [R, 1, 1, 1] a router; empty: 1
  std::vector<NullSource> nulls_;     // one a router
};

/// One router a sublayer, none before the final norm; `delta.gate` [R, n],
/// zeros, with gate = scalar; null sources.
class DeltaRouters {
 public:
  /// `sources` has the number of sources of each sublayer's router beside the
  /// null source; 0: it does not route.
  DeltaRouters(const spec::Settings& settings, std::vector<int64_t> sources,
               int64_t width, ParameterList& parameters);

  DeltaStream Begin(const torch::Tensor& x_RBTD,
                    RouterObserver* observer) const;

  /// As ResidualMethod::StreamScale.
  double StreamScale(int64_t sublayer) const;

 private:
  std::vector<int64_t> sources_;
  NullSources nulls_;
  Routers routers_;
  torch::Tensor gate_Rn_;  // undefined: 1
};

}  // namespace leadline::model
