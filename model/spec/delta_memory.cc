// Memory of methods whose routers add to the stream.

#include <algorithm>

#include "model/spec/block_count.h"
#include "model/spec/method_memory.h"

namespace leadline::spec {
namespace {

int64_t Window(const Settings& settings) {
  return static_cast<int64_t>(
      settings.NumberUnlessWord("window").value_or(2 * settings.depth()));
}

/// `kept`(l): sums or updates, made before sublayer l writes, that some router
/// keeps. `read`(l): sources of router l. `waiting`(l): sources with a gradient
/// when sublayer l runs backward.
template <typename Kept, typename Read, typename Waiting>
MethodMemory Additive(const Settings& settings, const Kept& kept,
                      const Read& read, const Waiting& waiting) {
  const int64_t width = settings.Integer("d_model");
  const int64_t sublayers = 2 * settings.depth();
  // A gate keeps what it scales.
  const int64_t gated = settings.Word("gate") == "off" ? 0 : width;
  const int64_t nulls = settings.Word("null_source") == "off" ? 0 : 1;
  MethodMemory memory;
  int64_t inputs = width + 1;  // the embedding and its 1/rms
  for (int64_t l = 0; l <= sublayers; ++l) {
    if (l > 0) inputs += width;
    if (l > 0 && l < sublayers) inputs += gated + nulls + read(l);
    // There is no readout: the last sublayer waits for nothing. Before it, the
    // stream's gradient is another one than the update's.
    const int64_t gradients = l + 1 < sublayers ? 1 + waiting(l) : 0;
    memory.held.push_back(inputs + kept(l) * (width + 1) + gradients * width);
  }
  memory.in_pass = (3 + read(sublayers - 1)) * width;
  memory.in_backward = 2 * width;
  return memory;
}

}  // namespace

MethodMemory DeltaAttnResMemory(const Settings& settings) {
  const int64_t window = Window(settings);
  return Additive(
      settings, [](int64_t l) { return l; },
      [=](int64_t l) { return 1 + BlocksRead(l, 1, window); },
      [=](int64_t l) { return 1 + l - std::max<int64_t>(0, l + 1 - window); });
}

MethodMemory DeltaBlockMemory(const Settings& settings) {
  const int64_t window = Window(settings);
  const int64_t length = settings.Integer("block_sublayers");
  return Additive(
      settings, [](int64_t l) { return l; },
      [=](int64_t l) { return 1 + BlocksRead(l, length, window); },
      [=](int64_t l) {
        return 1 + BlocksBegun(l, length) -
               std::max<int64_t>(0, (l + 1) / length - window);
      });
}

MethodMemory DeltaBlockNoPartialMemory(const Settings& settings) {
  const int64_t window = Window(settings);
  const int64_t length = settings.Integer("block_sublayers");
  return Additive(
      settings, [=](int64_t l) { return l / length; },
      [=](int64_t l) { return 1 + std::min(l / length, window); },
      [=](int64_t l) {
        return 1 + BlocksBegun(l, length) -
               std::max<int64_t>(0, (l + 1) / length - window);
      });
}

MethodMemory DeltaBlockRepoMemory(const Settings& settings) {
  const int64_t length = settings.Integer("block_sublayers");
  const auto made = [length](int64_t l) { return BlocksBegun(l, length); };
  // The first source is the embedding.
  return Additive(
      settings, [made](int64_t l) { return l == 0 ? 0 : made(l) - 1; }, made,
      made);
}

}  // namespace leadline::spec
