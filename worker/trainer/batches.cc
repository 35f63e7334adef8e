#include "worker/trainer/batches.h"

#include <algorithm>
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
                 std::vector<int64_t> data_seeds, int64_t context,
                 const Documents* documents)
    : symbols_(symbols),
      data_seeds_(std::move(data_seeds)),
      context_(context),
      documents_(documents) {
  TORCH_CHECK(static_cast<int64_t>(symbols_.size()) > context_, "no window of ",
              context_, " fits ", symbols_.size(), " symbols");
  TORCH_CHECK(documents_ == nullptr || documents_->CountStarts(context_) > 0,
              "every story has one symbol");
}

std::vector<int64_t> Batches::Starts(int64_t step, int64_t first,
                                     int64_t count) const {
  // The draws are below symbols less context.
  const int64_t size = documents_ == nullptr
                           ? static_cast<int64_t>(symbols_.size())
                           : documents_->CountStarts(context_) + context_;
  std::vector<int64_t> starts;
  for (const int64_t seed : data_seeds_) {
    const std::vector<int64_t> own = WindowStarts(
        static_cast<uint64_t>(seed), step, first, count, size, context_);
    starts.insert(starts.end(), own.begin(), own.end());
  }
  if (documents_ != nullptr) {
    for (int64_t& start : starts) start = documents_->Start(start);
  }
  return starts;
}

Batch Batches::Read(int64_t step, int64_t first, int64_t count) const {
  const std::vector<int64_t> starts = Starts(step, first, count);
  const auto replicas = static_cast<int64_t>(data_seeds_.size());
  Batch batch = CopyWindows(symbols_, starts, replicas, context_);
  if (documents_ == nullptr) return batch;
  batch.scored_RBT = torch::zeros({replicas, count, context_});
  auto* row = batch.scored_RBT.mutable_data_ptr<float>();
  for (const int64_t start : starts) {
    std::fill_n(row, documents_->Scored(start, context_), 1.0F);
    row += context_;
  }
  return batch;
}

std::vector<int64_t> Batches::CountScored(int64_t step, int64_t first,
                                          int64_t count) const {
  std::vector<int64_t> scored;
  if (documents_ == nullptr) return scored;
  const std::vector<int64_t> starts = Starts(step, first, count);
  for (size_t i = 0; i < starts.size(); ++i) {
    if (i % static_cast<size_t>(count) == 0) scored.push_back(0);
    scored.back() += documents_->Scored(starts[i], context_);
  }
  return scored;
}

}  // namespace leadline::trainer
