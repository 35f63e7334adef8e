#include "worker/trainer/evaluation.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "model/losses.h"
#include "model/spec/evaluation_batch.h"

namespace leadline::trainer {

using torch::Tensor;

namespace {

// Token losses [R, P', T] of windows of one length.
Tensor Losses(const model::Decoder& decoder, std::span<const uint16_t> symbols,
              std::span<const Window> windows, const torch::Device& device,
              model::RouterObserver* observer) {
  const Batch batch = SharedBatch(decoder, symbols, windows, device);
  return model::TokenLosses(
      decoder.Forward(batch.tokens_RBT, {.observer = observer}),
      batch.targets_RBT);
}

// Windows of one shape that are computed at once: [begin, end).
struct Run {
  size_t begin = 0;
  size_t end = 0;
};

std::vector<Run> RunsOf(const model::Decoder& decoder,
                        const std::vector<Window>& windows,
                        const torch::Device& device) {
  const int64_t at_once = spec::EvaluationWindows(
      decoder.replicas(), windows.front().length, device.is_cpu());
  std::vector<Run> runs;
  size_t begin = 0;
  while (begin < windows.size()) {
    size_t end = begin + 1;
    while (end < windows.size() &&
           static_cast<int64_t>(end - begin) < at_once &&
           windows[end].length == windows[begin].length &&
           windows[end].first_scored == windows[begin].first_scored) {
      ++end;
    }
    runs.push_back({begin, end});
    begin = end;
  }
  return runs;
}

// Calls `take` with the runs that are this rank's, and their losses; the ranks
// take turns.
template <typename Take>
void ForOwnRuns(const model::Decoder& decoder,
                std::span<const uint16_t> symbols,
                const std::vector<Window>& windows,
                const std::vector<Run>& runs, const torch::Device& device,
                const Breather& breathe, model::RouterObserver* observer,
                const collective::Communicator* communicator, Take take) {
  const torch::NoGradGuard no_grad;
  const size_t ranks = communicator == nullptr ? 1 : communicator->size();
  const size_t own = communicator == nullptr ? 0 : communicator->rank();
  for (size_t first = 0; first < runs.size(); first += ranks) {
    const size_t index = first + own;
    if (index < runs.size()) {
      const Run& run = runs[index];
      const auto of_run =
          std::span(windows).subspan(run.begin, run.end - run.begin);
      take(index, Losses(decoder, symbols, of_run, device, observer));
    }
    breathe();
  }
}

// Each rank has filled its own places and left zeros in the others'.
void Gather(Tensor& values, collective::Communicator* communicator) {
  if (communicator != nullptr) communicator->AllReduce(values);
}

}  // namespace

std::vector<Window> FullWindows(int64_t size, int64_t context, int64_t stride) {
  std::vector<Window> windows;
  int64_t read = 0;  // symbols whose successor is scored
  for (int64_t start = 0; read < size - 1; start += stride) {
    const int64_t end = std::min(start + context, size - 1);
    windows.push_back({start, end - start, read - start});
    read = end;
  }
  return windows;
}

std::vector<Window> FixedWindows(int64_t size, int64_t context, int64_t count) {
  std::vector<Window> windows;
  for (int64_t k = 0; k < count; ++k) {
    windows.push_back({k * (size - context - 1) / (count - 1), context, 0});
  }
  return windows;
}

std::vector<Window> FullWindows(const Documents& documents, int64_t context,
                                int64_t stride) {
  std::vector<Window> windows;
  int64_t begin = 0;
  for (const int64_t end : documents.ends()) {
    for (Window window : FullWindows(end - begin, context, stride)) {
      window.start += begin;
      windows.push_back(window);
    }
    begin = end;
  }
  TORCH_CHECK(!windows.empty(), "no story has a symbol to score");
  std::stable_sort(windows.begin(), windows.end(),
                   [](const Window& a, const Window& b) {
                     return std::pair(a.length, b.first_scored) >
                            std::pair(b.length, a.first_scored);
                   });
  return windows;
}

std::vector<Window> SplitWindows(const spec::Settings& settings, int64_t size,
                                 std::vector<int64_t> story_ends) {
  const int64_t context = settings.Integer("context");
  const int64_t stride = settings.Integer("eval_stride");
  if (!settings.IsOn("respect_documents")) {
    return FullWindows(size, context, stride);
  }
  return FullWindows(Documents(std::move(story_ends)), context, stride);
}

std::vector<Window> FixedWindows(const Documents& documents, int64_t context,
                                 int64_t count) {
  const int64_t starts = documents.CountStarts(context);
  TORCH_CHECK(starts > 0, "no story has a symbol to score");
  std::vector<Window> windows;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t start = documents.Start(k * (starts - 1) / (count - 1));
    windows.push_back({start, documents.Scored(start, context), 0});
  }
  return windows;
}

Batch SharedBatch(const model::Decoder& decoder,
                  std::span<const uint16_t> symbols,
                  std::span<const Window> windows,
                  const torch::Device& device) {
  std::vector<int64_t> starts;
  for (const Window& window : windows) starts.push_back(window.start);
  const Batch one = CopyWindows(symbols, starts, 1, windows[0].length);
  const auto for_all = [&](const Tensor& tokens) {
    return tokens.to(device).expand({decoder.replicas(), -1, -1}).contiguous();
  };
  return {for_all(one.tokens_RBT), for_all(one.targets_RBT), {}};
}

Tensor EvaluateFull(const model::Decoder& decoder,
                    std::span<const uint16_t> symbols,
                    const std::vector<Window>& windows,
                    const torch::Device& device, const Breather& breathe,
                    collective::Communicator* communicator) {
  const std::vector<Run> runs = RunsOf(decoder, windows, device);
  // A row a run, so that their order is that of one rank.
  Tensor sums_NR = torch::zeros(
      {static_cast<int64_t>(runs.size()), decoder.replicas()},
      torch::TensorOptions().dtype(torch::kFloat64).device(device));
  ForOwnRuns(decoder, symbols, windows, runs, device, breathe, nullptr,
             communicator, [&](size_t index, const Tensor& losses_RPT) {
               const int64_t first = windows[runs[index].begin].first_scored;
               sums_NR[static_cast<int64_t>(index)] =
                   losses_RPT.slice(2, first).sum({1, 2}, /*keepdim=*/false,
                                                  torch::kFloat64);
             });
  Gather(sums_NR, communicator);
  Tensor sum_R = torch::zeros({decoder.replicas()}, sums_NR.options());
  int64_t scored = 0;
  for (size_t n = 0; n < runs.size(); ++n) {
    const Window& window = windows[runs[n].begin];
    sum_R += sums_NR[static_cast<int64_t>(n)];
    scored += static_cast<int64_t>(runs[n].end - runs[n].begin) *
              (window.length - window.first_scored);
  }
  return sum_R / scored;
}

Tensor EvaluateFixed(const model::Decoder& decoder,
                     std::span<const uint16_t> symbols,
                     const std::vector<Window>& windows,
                     const torch::Device& device, const Breather& breathe,
                     model::RouterObserver* observer,
                     collective::Communicator* communicator) {
  // Windows of one length are computed together, and there may be many lengths.
  std::vector<int64_t> order(windows.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return windows[a].length > windows[b].length;
  });
  std::vector<Window> by_length;
  for (const int64_t index : order) by_length.push_back(windows[index]);
  const std::vector<Run> runs = RunsOf(decoder, by_length, device);
  Tensor sorted_RP = torch::zeros(
      {decoder.replicas(), static_cast<int64_t>(windows.size())},
      torch::TensorOptions().dtype(torch::kFloat64).device(device));
  ForOwnRuns(decoder, symbols, by_length, runs, device, breathe, observer,
             communicator, [&](size_t index, const Tensor& losses_RPT) {
               const Run& run = runs[index];
               sorted_RP.slice(1, static_cast<int64_t>(run.begin),
                               static_cast<int64_t>(run.end)) =
                   losses_RPT.mean(2, /*keepdim=*/false, torch::kFloat64);
             });
  Gather(sorted_RP, communicator);
  if (std::is_sorted(order.begin(), order.end())) return sorted_RP;
  Tensor result_RP = torch::empty_like(sorted_RP);
  result_RP.index_copy_(1, torch::tensor(order).to(device), sorted_RP);
  return result_RP;
}

}  // namespace leadline::trainer
