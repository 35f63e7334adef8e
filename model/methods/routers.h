// The routers of a method: their queries and key gains, and their use in a
// pass.

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <torch/torch.h>

#include "model/parameters.h"
#include "model/router/observer.h"
#include "model/router/route.h"
#include "model/spec/settings.h"

namespace leadline::model {

/// What the routers of a pass compute with.
struct RouterValues {
  std::vector<torch::Tensor> keys_RD = {};    // Q; empty: static mixing
  std::vector<torch::Tensor> mixing_RJ = {};  // Q; empty: no static mixing
  bool normalised = true;
  int64_t heads = 1;
};

/// The routers of one pass.
class RouterPass {
 public:
  RouterPass(RouterValues values, RouterObserver* observer)
      : values_(std::move(values)), observer_(observer) {}

  /// Router q over these sources. `bias_RC` as in RouterKey; may be undefined.
  /// The observer sees a null source as the first, labelled "null".
  torch::Tensor Route(int64_t q, const std::vector<Candidate>& candidates,
                      const torch::Tensor& bias_RC = {},
                      const NullSource& null = {}) const;

 private:
  std::vector<Candidate> Kept(int64_t q,
                              const std::vector<Candidate>& candidates) const;
  torch::Tensor Observed(int64_t q, const std::vector<Candidate>& candidates,
                         const RouterKey& router) const;

  RouterValues values_;
  RouterObserver* observer_;
};

/// `router.w` [R, Q, D], N(0, router_init_std), and `router.g` [R, Q, D], ones;
/// with `static_mixing` instead `router.b.<q>` [R, J_q], zeros: the logits of
/// router q's sources, which no token changes. A logit of the method's own
/// (a detail's bias) adds to them.
/// Options: router_init_std, router_weight_decay, key_norm, static_mixing,
/// router_heads (1 for methods without it).
class Routers {
 public:
  /// `sources` has J_q of every router, a null source with a value counted; 0:
  /// the method never asks that router.
  Routers(const spec::Settings& settings, const std::vector<int64_t>& sources,
          int64_t width, ParameterList& parameters);

  RouterPass Begin(RouterObserver* observer) const;

 private:
  bool normalised_;
  int64_t heads_ = 1;
  torch::Tensor w_RQD_;  // undefined: static mixing
  torch::Tensor g_RQD_;
  std::vector<torch::Tensor> mixing_RJ_;
};

}  // namespace leadline::model
