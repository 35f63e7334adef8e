// Memory of methods whose routers replace the stream.

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "model/spec/block_count.h"
#include "model/spec/method_memory.h"

namespace leadline::spec {
namespace {

/// Sign of position i in a block of `length` sublayers, as in BlockBasis.
using Sign = int (*)(int64_t i, int64_t length);

int Plain(int64_t, int64_t) { return 1; }
int Phase(int64_t i, int64_t) { return i % 2 == 0 ? 1 : -1; }
int Split(int64_t i, int64_t length) {
  if (i < length / 2) return 1;
  return i >= length - length / 2 ? -1 : 0;
}
/// Replicas differ in drawn signs: such a sum equals no other.
int Drawn(int64_t, int64_t) { return 2; }

/// What routers read: the sums of each block, the plain one first.
struct Sources {
  std::vector<Sign> signs = {&Plain};
  int64_t block_sublayers = 1;
  int64_t heads = 1;                                     // of a router
  int64_t window = std::numeric_limits<int64_t>::max();  // finished blocks read

  int64_t offered() const { return static_cast<int64_t>(signs.size()); }

  /// For every position of a block the sums that differ after it: those with
  /// equal signs so far share one tensor.
  std::vector<int64_t> Distinct(int64_t length) const {
    std::vector<size_t> leader(signs.size(), 0);  // first equal sum so far
    std::vector<int64_t> counts;
    for (int64_t i = 0; i < length; ++i) {
      const std::vector<size_t> before = leader;
      int64_t count = 0;
      for (size_t k = 0; k < signs.size(); ++k) {
        const auto equals = [&](size_t other) {
          return before[other] == before[k] &&
                 signs[other](i, length) == signs[k](i, length);
        };
        leader[k] = 0;
        while (!equals(leader[k])) ++leader[k];  // at the latest k itself
        if (leader[k] == k) ++count;
      }
      counts.push_back(count);
    }
    return counts;
  }
};

/// Kept where every sublayer and the final norm read a router's mixture.
MethodMemory Replacement(const Settings& settings, const Sources& of) {
  const int64_t width = settings.Integer("d_model");
  const int64_t sublayers = 2 * settings.depth();
  const int64_t length = of.block_sublayers;
  const int64_t last = sublayers - (sublayers - 1) / length * length;
  const std::vector<int64_t> in_whole =
      of.Distinct(std::min(length, sublayers));
  const std::vector<int64_t> in_last = of.Distinct(last);
  MethodMemory memory;
  int64_t inputs = width + 1;  // the embedding and its 1/rms
  int64_t sums = 0;
  int64_t weights = 0;
  for (int64_t l = 0; l <= sublayers; ++l) {
    const int64_t finished = l / length;
    const int64_t position = l % length;
    const bool readout = l == sublayers;
    if (l > 0) {
      inputs += width;
      weights += of.heads * (1 + (readout ? 1 : of.offered()) *
                                     BlocksRead(l, length, of.window));
    }
    // Gradients of what later routers read. The readout, which runs backward
    // first, sees no details; a lone running sum's is that of the update.
    const int64_t known = l + 1 >= sublayers ? 1 : of.offered();
    const int64_t running = position > 0 && known > 1 ? known : 0;
    const int64_t unread = std::max<int64_t>(0, (l + 1) / length - of.window);
    const int64_t waiting =
        readout ? 0 : 1 + known * (finished - unread) + running;
    memory.held.push_back(inputs + sums + weights + waiting * width);
    if (readout) break;
    // Each sum with its 1/rms, and the factors of details.
    const bool is_last = l - position + last == sublayers;
    sums += (is_last ? in_last : in_whole)[position] * (width + 1) +
            of.offered() - 1;
  }
  memory.in_pass = (2 + of.offered() * BlocksBegun(sublayers, length)) * width;
  memory.in_backward = (1 + of.offered()) * width;
  return memory;
}

int64_t Window(const Settings& settings) {
  return static_cast<int64_t>(
      settings.NumberUnlessWord("window").value_or(2 * settings.depth()));
}

Sources Blocks(const Settings& settings) {
  return {.block_sublayers = settings.Integer("block_sublayers"),
          .window = Window(settings)};
}

MethodMemory WithDetails(const Settings& settings, std::vector<Sign> signs) {
  const bool details = settings.IsOn("details") &&
                       settings.NumberUnlessWord("detail_bias").has_value();
  Sources sources = Blocks(settings);
  if (details) sources.signs = std::move(signs);
  return Replacement(settings, sources);
}

}  // namespace

MethodMemory AttnResMemory(const Settings& settings) {
  return Replacement(settings, {.window = Window(settings)});
}

MethodMemory BlockAttnResMemory(const Settings& settings) {
  return Replacement(settings, Blocks(settings));
}

MethodMemory MharMemory(const Settings& settings) {
  Sources sources = settings.Word("base") == "block"
                        ? Blocks(settings)
                        : Sources{.window = Window(settings)};
  sources.heads = settings.Integer("router_heads");
  return Replacement(settings, sources);
}

MethodMemory WavMemory(const Settings& settings) {
  return WithDetails(settings, {&Plain, &Phase, &Split});
}

MethodMemory HaaresMemory(const Settings& settings) {
  return WithDetails(settings, {&Plain, &Split});
}

MethodMemory HaaresDupMemory(const Settings& settings) {
  return WithDetails(settings, {&Plain, &Plain});
}

MethodMemory HaaresRandomMemory(const Settings& settings) {
  return WithDetails(settings, {&Plain, &Drawn});
}

}  // namespace leadline::spec
