// The routers of a method: their queries and key gains, and their use in a
// pass.

#pragma once

#include <cstdint>
#include <vector>

#include <torch/torch.h>

#include "model/parameters.h"
#include "model/router/observer.h"
#include "model/router/route.h"
#include "model/spec/settings.h"

namespace leadline::model {

/// The routers of one pass.
class RouterPass {
 public:
  RouterPass(std::vector<torch::Tensor> keys_RD, bool normalised,
             RouterObserver* observer)
      : keys_RD_(std::move(keys_RD)),
        normalised_(normalised),
        observer_(observer) {}

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

  std::vector<torch::Tensor> keys_RD_;
  bool normalised_;
  RouterObserver* observer_;
};

/// `router.w` [R, Q, D], N(0, router_init_std), and `router.g` [R, Q, D], ones.
/// Options: router_init_std, router_weight_decay, key_norm.
class Routers {
 public:
  Routers(const spec::Settings& settings, int64_t count, int64_t width,
          ParameterList& parameters);

  RouterPass Begin(RouterObserver* observer) const;

 private:
  bool normalised_;
  torch::Tensor w_RQD_;
  torch::Tensor g_RQD_;
};

}  // namespace leadline::model
