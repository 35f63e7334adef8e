// The loss of a split: deterministic, without dropout, the same characters for
// every method, seed and replica. Token losses are summed in float64.
//
// Shape suffixes: R replicas, P windows.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <torch/torch.h>

#include "model/decoder.h"
#include "model/spec/settings.h"
#include "worker/collective/communicator.h"
#include "worker/trainer/batches.h"
#include "worker/trainer/documents.h"

namespace leadline::trainer {

/// `length` symbols are read from `start`, and the losses of positions from
/// `first_scored` on are counted, each that of the symbol after it.
struct Window {
  int64_t start = 0;
  int64_t length = 0;
  int64_t first_scored = 0;
  bool operator==(const Window&) const = default;
};

/// Windows that begin every `stride` symbols and score each of `size` symbols
/// but the first exactly once; the last may be short. `stride` is at most
/// `context`; below it, windows score their last `stride` symbols.
std::vector<Window> FullWindows(int64_t size, int64_t context, int64_t stride);

/// `count` windows of `context` at floor(k (size - context - 1)/(count - 1)).
std::vector<Window> FixedWindows(int64_t size, int64_t context, int64_t count);

/// As FullWindows, each story for itself: every symbol but the first of its
/// story is scored once, from symbols of that story alone. Windows of one shape
/// stand together, longest first.
std::vector<Window> FullWindows(const Documents& documents, int64_t context,
                                int64_t stride);

/// Those by which a whole split is scored under these settings. `story_ends`
/// are the split's.
std::vector<Window> SplitWindows(const spec::Settings& settings, int64_t size,
                                 std::vector<int64_t> story_ends);

/// `count` windows at starts floor(k (N - 1)/(count - 1)) of the N that
/// Documents counts, each up to the end of its story.
std::vector<Window> FixedWindows(const Documents& documents, int64_t context,
                                 int64_t count);

/// Windows of one length, the same for every replica, on the device.
Batch SharedBatch(const model::Decoder& decoder,
                  std::span<const uint16_t> symbols,
                  std::span<const Window> windows, const torch::Device& device);

/// What the loop does between batches, so that a stop is heeded: it may throw.
/// Where several ranks share an evaluation, each has done one batch then, or
/// has had none to do.
using Breather = std::function<void()>;

/// Mean loss of each replica over all scored characters, [R] float64. With
/// `communicator` its ranks share the batches; the bits are those of one rank.
torch::Tensor EvaluateFull(const model::Decoder& decoder,
                           std::span<const uint16_t> symbols,
                           const std::vector<Window>& windows,
                           const torch::Device& device, const Breather& breathe,
                           collective::Communicator* communicator = nullptr);

/// Mean loss of each replica in each window, [R, P] float64, in their order.
/// `observer` may leave sources out. `communicator` as above.
torch::Tensor EvaluateFixed(const model::Decoder& decoder,
                            std::span<const uint16_t> symbols,
                            const std::vector<Window>& windows,
                            const torch::Device& device,
                            const Breather& breathe,
                            model::RouterObserver* observer = nullptr,
                            collective::Communicator* communicator = nullptr);

}  // namespace leadline::trainer
