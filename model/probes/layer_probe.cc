#include "model/probes/layer_probe.h"

namespace leadline::model {

using torch::Tensor;

void LayerProbe::OnEmbeddings(const Tensor& e_RBTD) {
  embeddings_RBTD_ = e_RBTD;
  const torch::NoGradGuard no_grad;
  stream_RBTD_ = e_RBTD.detach();
  table_.Set("layer.stream_rms", 0, TokenMean(Rms(stream_RBTD_, eps_)));
}

void LayerProbe::OnRoute(const RouteRecord& record) {
  if (!additive_) return;
  const torch::NoGradGuard no_grad;
  table_.Set("route.ratio", record.router,
             TokenMean(Rms(record.out_RBTD, eps_) / Rms(stream_RBTD_, eps_)));
}

void LayerProbe::OnSublayer(int64_t sublayer, const Tensor& x_RBTD,
                            const Tensor& u_RBTD) {
  // At once, so that neither updates nor their gradients are kept for it.
  u_RBTD.register_hook([this, sublayer](const Tensor& gradient_RBTD) {
    const torch::NoGradGuard no_grad;
    table_.Set("layer.grad_rms", sublayer,
               TokenMean(gradient_RBTD.square().mean(-1)).sqrt());
  });
  const torch::NoGradGuard no_grad;
  table_.Set("layer.input_rms", sublayer, TokenMean(Rms(x_RBTD, eps_)));
  table_.Set("layer.output_rms", sublayer, TokenMean(Rms(u_RBTD, eps_)));
  stream_RBTD_ = stream_RBTD_ + u_RBTD;
  table_.Set("layer.stream_rms", sublayer + 1,
             TokenMean(Rms(stream_RBTD_, eps_)));
}

}  // namespace leadline::model
