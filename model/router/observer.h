// Who wants to see what a pass does, or leave sources out of it: probes and
// tests.
//
// Shape suffixes: R replicas, B sequences, T tokens, D width, J sources, G
// router heads, M streams.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <torch/torch.h>

namespace leadline::model {

/// One router of one pass. Everything is outside autograd, and valid during the
/// call. Lists have one entry a source, in list order.
struct RouteRecord {
  int64_t router = 0;                    // q
  std::vector<std::string> labels = {};  // what source_name.h reads
  torch::Tensor weights_JRBT = {};       // all ones with a single source
  /// The weights of single heads; undefined where there is one head.
  /// `weights_JRBT` is then their mean.
  torch::Tensor head_weights_JRBTG = {};
  /// Undefined for a source that has a logit but no value.
  std::vector<torch::Tensor> sources_RBTD = {};
  std::vector<torch::Tensor> inverse_rms_RBT = {};
  std::vector<torch::Tensor> scales_RBT = {};  // of values; undefined: 1
  std::vector<int64_t> bias_columns = {};      // -1: no bias
  torch::Tensor out_RBTD = {};
};

/// Sees one forward pass, in the order of the calls below. Without an observer
/// a pass computes and branches as if there were none of this.
class RouterObserver {
 public:
  virtual ~RouterObserver() = default;

  /// Before the first sublayer, in autograd.
  virtual void OnEmbeddings([[maybe_unused]] const torch::Tensor& e_RBTD) {}

  /// False leaves the source out of that router, as if it did not exist. A
  /// router that would be left with nothing keeps its whole list.
  virtual bool Keeps([[maybe_unused]] int64_t router,
                     [[maybe_unused]] std::string_view label) const {
    return true;
  }

  /// Before sublayer `router` reads; the readout comes last.
  virtual void OnRoute([[maybe_unused]] const RouteRecord& record) {}

  /// What methods with several streams hold before `sublayer` reads, outside
  /// autograd.
  virtual void OnStreams([[maybe_unused]] int64_t sublayer,
                         [[maybe_unused]] const torch::Tensor& streams_RBTMD) {}

  /// What a sublayer read and what it gives, in autograd: a hook registered on
  /// `u_RBTD` sees the whole gradient of it, from all its readers.
  virtual void OnSublayer([[maybe_unused]] int64_t sublayer,
                          [[maybe_unused]] const torch::Tensor& x_RBTD,
                          [[maybe_unused]] const torch::Tensor& u_RBTD) {}
};

}  // namespace leadline::model
