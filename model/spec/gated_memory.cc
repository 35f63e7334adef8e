// Memory of methods with one running sum.

#include "model/spec/method_memory.h"

namespace leadline::spec {
namespace {

/// Every sum is some sublayer's input; `updates` says that the updates are kept
/// too, as a product with a trained scale needs them.
MethodMemory OneStream(const Settings& settings, bool updates) {
  const int64_t width = settings.Integer("d_model");
  MethodMemory memory;
  for (int64_t l = 0; l <= 2 * settings.depth(); ++l) {
    memory.held.push_back((l + 1) * width + (updates ? l * width : 0));
  }
  // The gradient of the update, and that of the scale before it is summed.
  memory.in_backward = updates ? 2 * width : 0;
  memory.in_pass = 2 * width;
  return memory;
}

}  // namespace

MethodMemory PreNormMemory(const Settings& settings) {
  return OneStream(settings, false);
}

MethodMemory ScaledMemory(const Settings& settings) {
  return OneStream(settings, true);
}

MethodMemory ReZeroMemory(const Settings& settings) {
  MethodMemory memory = OneStream(settings, true);
  if (settings.IsOn("norm")) return memory;
  // What a matrix reads is then the stream itself, counted by the sublayer;
  // the final norm alone keeps its input.
  memory.norms_before_sublayers = false;
  const int64_t width = settings.Integer("d_model");
  const int64_t sublayers = 2 * settings.depth();
  for (int64_t l = 0; l <= sublayers; ++l) {
    memory.held[l] -= (l < sublayers ? l + 1 : l) * width;
  }
  return memory;
}

}  // namespace leadline::spec
