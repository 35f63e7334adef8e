#include "model/probes/streams_probe.h"

namespace leadline::model {

using torch::Tensor;

void StreamsProbe::OnStreams(int64_t sublayer, const Tensor& streams_RBTMD) {
  const torch::NoGradGuard no_grad;
  const Tensor mean_RBTD = streams_RBTMD.mean(3);
  const Tensor apart_RBT =
      (streams_RBTMD - mean_RBTD.unsqueeze(3)).square().mean({3, 4}).sqrt();
  table_.Set("streams.spread", sublayer,
             TokenMean(apart_RBT / Rms(mean_RBTD, eps_)));
}

}  // namespace leadline::model
