// What sublayers read and give, and the stream they would make as a plain sum.
//
// Shape suffixes: R replicas, B sequences, T tokens, D width.

#pragma once

#include <cstdint>

#include <torch/torch.h>

#include "model/probes/figures.h"
#include "model/router/observer.h"

namespace leadline::model {

/// Writes `layer.input_rms`, `layer.output_rms`, `layer.stream_rms`, for
/// routers whose output is added to the stream `route.ratio`, and, while a
/// backward pass from the sum of token losses runs, `layer.grad_rms`. The table
/// outlives it and the graph of the pass. Owned by one thread.
class LayerProbe final : public RouterObserver {
 public:
  LayerProbe(double eps, bool additive, FigureTable& table)
      : eps_(eps), additive_(additive), table_(table) {}

  void OnEmbeddings(const torch::Tensor& e_RBTD) override;
  void OnRoute(const RouteRecord& record) override;
  void OnSublayer(int64_t sublayer, const torch::Tensor& x_RBTD,
                  const torch::Tensor& u_RBTD) override;

  /// The embeddings, in autograd: every update follows from them.
  const torch::Tensor& embeddings_RBTD() const { return embeddings_RBTD_; }

 private:
  double eps_;
  bool additive_;
  FigureTable& table_;
  torch::Tensor embeddings_RBTD_;
  torch::Tensor stream_RBTD_;
};

}  // namespace leadline::model
