#include "worker/inference/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/random_stream.h"

namespace leadline::inference {
namespace {

// Of the symbol after the last, over those that may be drawn.
std::vector<double> NextLogits(const LoadedModel& model,
                               const std::vector<int64_t>& read,
                               int64_t symbols) {
  const auto context = model.manifest.settings.Integer("context");
  const auto length =
      std::min<int64_t>(context, static_cast<int64_t>(read.size()));
  const torch::Tensor tokens_RBT =
      torch::tensor(std::vector<int64_t>(read.end() - length, read.end()))
          .reshape({1, 1, length});
  const torch::Tensor logits_V = model.decoder.Forward(tokens_RBT)
                                     .select(2, length - 1)
                                     .flatten()
                                     .narrow(0, 0, symbols)
                                     .to(torch::kFloat64)
                                     .contiguous();
  const double* data = logits_V.const_data_ptr<double>();
  return {data, data + symbols};
}

int64_t Draw(const std::vector<double>& logits, const SamplerOptions& options,
             double uniform) {
  std::vector<int64_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  // Equal ones by their numbers, so that a draw says the same everywhere.
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return logits[static_cast<size_t>(a)] > logits[static_cast<size_t>(b)];
  });
  if (options.temperature == 0) return order.front();
  if (options.top_k > 0 && options.top_k < static_cast<int64_t>(order.size())) {
    order.resize(static_cast<size_t>(options.top_k));
  }
  std::vector<double> weights;
  const double most = logits[static_cast<size_t>(order.front())];
  for (const int64_t symbol : order) {
    weights.push_back(std::exp((logits[static_cast<size_t>(symbol)] - most) /
                               options.temperature));
  }
  double left = uniform * std::accumulate(weights.begin(), weights.end(), 0.0);
  for (size_t i = 0; i < order.size(); ++i) {
    left -= weights[i];
    if (left < 0) return order[i];
  }
  return order.back();
}

}  // namespace

void Sample(const LoadedModel& model, std::vector<int64_t> prompt,
            const SamplerOptions& options,
            const std::function<void(int64_t symbol)>& take) {
  TORCH_CHECK(!prompt.empty(), "the model needs a text to go on from");
  const torch::NoGradGuard no_grad;
  const RandomStream stream(static_cast<uint64_t>(options.seed), "sample");
  for (int64_t i = 0; i < options.length; ++i) {
    const std::vector<double> logits =
        NextLogits(model, prompt, options.symbols);
    TORCH_CHECK(std::all_of(logits.begin(), logits.end(),
                            [](double logit) { return std::isfinite(logit); }),
                "the model's logits are not finite");
    prompt.push_back(
        Draw(logits, options, stream.Uniform(static_cast<uint64_t>(i))));
    take(prompt.back());
  }
}

}  // namespace leadline::inference
