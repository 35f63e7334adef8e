#include "worker/trainer/batches.h"

#include <utility>

#include "common/window_starts.h"

namespace leadline::trainer {

Batch CopyWindows(std::span<const uint16_t> symbols,
                  std::span<const int64_t> starts, int64_t replicas,
                  int64_t length) {
  const auto count = static_cast<int64_t>(starts.size()) / replicas;
  Batch batch{torch::empty({replicas, count, length}, torch::kInt64),
              torch::empty({replicas, count, length}, torch::kInt64)};
  auto* token = batch.tokens_RBT.mutable_data_ptr<int64_t>();
  auto* target = batch.targets_RBT.mutable_data_ptr<int64_t>();
  for (const int64_t start : starts) {
    const auto window = symbols.subspan(start, length + 1);
    for (int64_t t = 0; t < length; ++t) {
      *token++ = window[t];
      *target++ = window[t + 1];
    }
  }
  return batch;
}

Batches::Batches(std::span<const uint16_t> symbols,
                 std::vector<int64_t> data_seeds, int64_t context)
    : symbols_(symbols), data_seeds_(std::move(data_seeds)), context_(context) {
  TORCH_CHECK(static_cast<int64_t>(symbols_.size()) > context_, "no window of ",
              context_, " fits ", symbols_.size(), " symbols");
}

std::vector<int64_t> Batches::Starts(int64_t step, int64_t first,
                                     int64_t count) const {
  const auto size = static_cast<int64_t>(symbols_.size());
  std::vector<int64_t> starts;
  for (const int64_t seed : data_seeds_) {
    const std::vector<int64_t> own = WindowStarts(
        static_cast<uint64_t>(seed), step, first, count, size, context_);
    starts.insert(starts.end(), own.begin(), own.end());
  }
  return starts;
}

Batch Batches::Read(int64_t step, int64_t first, int64_t count) const {
  return CopyWindows(symbols_, Starts(step, first, count),
                     static_cast<int64_t>(data_seeds_.size()), context_);
}

}  // namespace leadline::trainer
