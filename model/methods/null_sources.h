// A source that lets a router add less, one a router (arXiv:2605.18855,
// arXiv:2607.27230).

#pragma once

#include <cstdint>
#include <vector>

#include <torch/torch.h>

#include "model/parameters.h"
#include "model/router/route.h"
#include "model/spec/settings.h"

namespace leadline::model {

/// null_source = logit: value 0 and `router.null_logit` [R, n]; vector:
/// `router.null` [R, n, D], whose key is normalised with `null_eps`. Both start
/// at 0 and learn at the rate of routers times `null_lr_mult`.
class NullSources {
 public:
  NullSources(const spec::Settings& settings, int64_t routers, int64_t width,
              ParameterList& parameters);

  /// One a router; all empty with null_source = off.
  std::vector<NullSource> Begin() const;

  bool exist() const { return logit_Rn_.defined() || null_RnD_.defined(); }
  bool have_values() const { return null_RnD_.defined(); }

 private:
  int64_t routers_;
  double eps_;
  torch::Tensor logit_Rn_;
  torch::Tensor null_RnD_;
};

}  // namespace leadline::model
