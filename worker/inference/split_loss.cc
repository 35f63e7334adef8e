#include "worker/inference/split_loss.h"

#include <utility>

#include "worker/checkpoint/bad_checkpoint.h"
#include "worker/dataset/data_error.h"
#include "worker/dataset/symbol_text.h"
#include "worker/trainer/evaluation.h"

namespace leadline::inference {
namespace {

struct Part {
  std::span<const uint16_t> symbols;
  std::vector<int64_t> story_ends;
};

Part Choose(const dataset::SymbolText& text, const std::string& split) {
  if (split == "train") return {text.train(), text.train_ends()};
  if (split == "validation") return {text.validation(), text.validation_ends()};
  return {text.test(), text.test_ends()};
}

dataset::SymbolText Load(const checkpoint::Manifest& manifest,
                         const std::string& data) {
  spec::Dataset dataset = manifest.dataset;
  dataset.path = data;
  dataset::SymbolText text = dataset::LoadText(dataset);
  if (text.vocabulary() != manifest.vocabulary ||
      text.alphabet() != manifest.alphabet) {
    throw checkpoint::BadCheckpoint(
        "the checkpoint was trained on other symbols than those of " + data);
  }
  return text;
}

int64_t CountScored(const std::vector<trainer::Window>& windows) {
  int64_t scored = 0;
  for (const trainer::Window& window : windows) {
    scored += window.length - window.first_scored;
  }
  return scored;
}

}  // namespace

SplitLoss EvaluateOn(const LoadedModel& model, const std::string& split,
                     const std::string& data,
                     const std::function<void()>& breathe) {
  const dataset::SymbolText text = Load(model.manifest, data);
  Part part = Choose(text, split);
  if (part.symbols.size() < 2) {
    throw dataset::DataError("the data set has no " + split + " split");
  }
  const auto windows = trainer::SplitWindows(
      model.manifest.settings, static_cast<int64_t>(part.symbols.size()),
      std::move(part.story_ends));
  const torch::Tensor losses_R = trainer::EvaluateFull(
      model.decoder, part.symbols, windows, torch::kCPU, breathe);
  const torch::Tensor wide_R = losses_R.to(torch::kFloat64).contiguous();
  const double* losses = wide_R.const_data_ptr<double>();
  return {
      {losses, losses + wide_R.numel()},
      model.manifest.dataset.tokenizer == "byte" ? "nats/byte" : "nats/char",
      CountScored(windows),
      static_cast<int64_t>(windows.size())};
}

}  // namespace leadline::inference
