// Who wants to see what routers do: probes and tests.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <torch/torch.h>

namespace leadline::model {

/// One router of one pass. Everything is outside autograd, and valid during the
/// call.
struct RouteRecord {
  int64_t router = 0;                    // q
  std::vector<std::string> labels = {};  // of the sources, in list order
  torch::Tensor weights_JRBT = {};       // all ones with a single source
  std::vector<torch::Tensor> sources_RBTD = {};
  torch::Tensor out_RBTD = {};
};

class RouterObserver {
 public:
  virtual ~RouterObserver() = default;
  virtual void OnRoute(const RouteRecord& record) = 0;
};

}  // namespace leadline::model
