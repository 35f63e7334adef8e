// What each method costs beyond the plain decoder: one function a method, named
// by its row of the method table.

#pragma once

#include <cstdint>

#include "model/spec/settings.h"

namespace leadline::spec {

/// Of one replica.
struct MethodCost {
  /// Trained parameters; negative where the method leaves out some of the
  /// decoder's.
  int64_t parameters = 0;
  /// Sum over all routers of their number of sources.
  int64_t sum_of_sources = 0;
  /// Distinct tensors that some router reads, each normalised once.
  int64_t sources = 0;
  /// Floating-point operations of one token's forward pass that routers do not
  /// make.
  double other_flops_per_token = 0;
};

MethodCost PreNormCost(const Settings& settings);
MethodCost ReZeroCost(const Settings& settings);
MethodCost LayerScaleCost(const Settings& settings);
MethodCost BlockLayerScaleCost(const Settings& settings);
MethodCost AttnResCost(const Settings& settings);
MethodCost BlockAttnResCost(const Settings& settings);
MethodCost MharCost(const Settings& settings);
MethodCost DeltaAttnResCost(const Settings& settings);
MethodCost DeltaBlockCost(const Settings& settings);
MethodCost DeltaBlockNoPartialCost(const Settings& settings);
MethodCost DeltaBlockRepoCost(const Settings& settings);
MethodCost WavCost(const Settings& settings);
MethodCost HaaresCost(const Settings& settings);
MethodCost HaaresDupCost(const Settings& settings);
MethodCost HaaresFixedBiasCost(const Settings& settings);
MethodCost DenseFormerCost(const Settings& settings);
MethodCost HyperConnectionsCost(const Settings& settings);
MethodCost MhcCost(const Settings& settings);
MethodCost DeepNormCost(const Settings& settings);

}  // namespace leadline::spec
