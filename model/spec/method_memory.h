// What each method keeps during a training step: one function a method, named
// by its row of the method table. The sublayers' own tensors are counted in
// memory_forecast.cc.

#pragma once

#include <cstdint>
#include <vector>

#include "model/spec/settings.h"

namespace leadline::spec {

/// Of one token of one replica, in numbers of the stream's type: what a tensor
/// [R, B, T, D] keeps is D.
struct MethodMemory {
  /// Element l: while sublayer l runs backward (2L: the final norm and the
  /// head), the inputs of sublayers up to l, what was kept of earlier updates,
  /// weights of routers, gradients that wait for earlier sublayers. The
  /// gradient of the sublayer's own output is not in it.
  std::vector<int64_t> held;
  /// The most that the method's own backward makes beside these.
  int64_t in_backward = 0;
  /// The most that a pass without gradients holds, a sublayer's input among it.
  int64_t in_pass = 0;
  /// Sublayers keep the normed copy of their input, with its 1/rms.
  bool norms_before_sublayers = true;
};

MethodMemory PreNormMemory(const Settings& settings);
MethodMemory ScaledMemory(const Settings& settings);
MethodMemory ReZeroMemory(const Settings& settings);
MethodMemory AttnResMemory(const Settings& settings);
MethodMemory BlockAttnResMemory(const Settings& settings);
MethodMemory MharMemory(const Settings& settings);
MethodMemory WavMemory(const Settings& settings);
MethodMemory HaaresMemory(const Settings& settings);
MethodMemory HaaresDupMemory(const Settings& settings);
MethodMemory HaaresRandomMemory(const Settings& settings);
MethodMemory DeltaAttnResMemory(const Settings& settings);
MethodMemory DeltaBlockMemory(const Settings& settings);
MethodMemory DeltaBlockNoPartialMemory(const Settings& settings);
MethodMemory DeltaBlockRepoMemory(const Settings& settings);
MethodMemory DenseFormerMemory(const Settings& settings);
MethodMemory HyperConnectionsMemory(const Settings& settings);
MethodMemory MhcMemory(const Settings& settings);
MethodMemory DeepNormMemory(const Settings& settings);

}  // namespace leadline::spec
