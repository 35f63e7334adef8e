// How a decoder carries values from sublayer to sublayer.
//
// Shape suffixes: R replicas, B sequences, T tokens, D model width. Replicas
// are runs of one model under different seeds, trained side by side. No value
// of one replica ever reaches another.

#pragma once

#include <cstdint>
#include <memory>

#include <torch/torch.h>

#include "model/router/observer.h"

namespace leadline::model {

/// One forward pass through depth. It holds what the earlier sublayers left
/// behind, in whatever form its method needs.
///
/// The caller alternates Read and Write for sublayer 0, 1, ..., then calls
/// Finish. Attention and feed-forward are two sublayers.
class DepthPass {
 public:
  virtual ~DepthPass() = default;

  /// Returns the input of `sublayer`, [R, B, T, D].
  virtual torch::Tensor Read(int64_t sublayer) = 0;

  /// Takes the output of `sublayer`, before any residual sum.
  virtual void Write(const torch::Tensor& update_RBTD, int64_t sublayer) = 0;

  /// Returns what the final norm sees, [R, B, T, D].
  virtual torch::Tensor Finish() = 0;
};

/// Which norms the decoder applies around a method.
struct NormPlacement {
  bool before_sublayers = true;
  bool before_head = true;
};

/// The parameters of one way to carry values through depth, one set a replica.
/// It keeps nothing of a pass, so passes may overlap.
class ResidualMethod {
 public:
  virtual ~ResidualMethod() = default;

  /// Starts a pass from the token embeddings. `observer` may be null; else it
  /// outlives the pass and sees every router (RouterPass tells it) and all
  /// streams, where there are several.
  virtual std::unique_ptr<DepthPass> Begin(const torch::Tensor& x_RBTD,
                                           RouterObserver* observer) const = 0;

  virtual NormPlacement norms() const { return {}; }

  /// What the initial values of wv, wo, wg and wd are divided by, before they
  /// are rounded.
  virtual double branch_divisor() const { return 1; }

  /// The factor between what `sublayer` (or, for 2L, the final norm) reads and
  /// the plain sum of updates, while all queries are zero: 1/J after a router
  /// that replaces. With `eps_mode = compensated` the norm that follows takes
  /// eps times its square.
  virtual double StreamScale([[maybe_unused]] int64_t sublayer) const {
    return 1;
  }
};

/// The sizes a method is built for.
struct MethodSizes {
  int64_t sublayers = 0;
  int64_t width = 0;
};

}  // namespace leadline::model
