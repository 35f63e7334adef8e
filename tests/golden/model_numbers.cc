#include "tests/golden/model_numbers.h"

#include <algorithm>
#include <cstdio>

namespace leadline::golden {
namespace {

using torch::Tensor;

class Weights : public model::RouterObserver {
 public:
  explicit Weights(std::map<std::string, Tensor>& numbers)
      : numbers_(numbers) {}

  void OnRoute(const model::RouteRecord& record) override {
    if (record.labels.size() == 1) return;
    char name[32];
    std::snprintf(name, sizeof(name), "out.weights.%02d",
                  static_cast<int>(record.router));
    numbers_[name] = record.head_weights_JRBTG.defined()
                         ? record.head_weights_JRBTG
                         : record.weights_JRBT;
  }

 private:
  std::map<std::string, Tensor>& numbers_;
};

}  // namespace

std::map<std::string, Tensor> ModelNumbers(const model::Decoder& decoder,
                                           const Tensor& tokens_RBT,
                                           const Tensor& targets_RBT) {
  std::map<std::string, Tensor> numbers;
  Weights weights(numbers);
  const Tensor logits = decoder.Forward(tokens_RBT, {.observer = &weights});
  const Tensor loss_R = model::TokenLosses(logits, targets_RBT).mean({1, 2});
  loss_R.sum().backward();
  numbers["out.logits"] = logits.detach();
  numbers["out.loss"] = loss_R.detach();
  for (const model::NamedParameter& parameter : decoder.parameters_in_order()) {
    const Tensor gradient = parameter.tensor.grad();
    numbers["grad." + parameter.name] =
        gradient.defined() ? gradient : torch::zeros_like(parameter.tensor);
  }
  return numbers;
}

void CompareModel(const GoldenFile& file, std::map<std::string, Tensor> numbers,
                  Tally& tally) {
  double largest = 0;
  for (const auto& [name, gradient] : file.WithPrefix("grad.")) {
    largest = std::max(largest, gradient.norm().item<double>());
  }
  for (const auto& [name, want] : file.WithPrefix("")) {
    const bool gradient = name.starts_with("grad.");
    if (!gradient && !name.starts_with("out.")) continue;
    const auto got = numbers.extract(name);
    if (got.empty()) {
      tally.Fail("the model has no " + name);
    } else if (gradient) {
      tally.Gradient(name, got.mapped(), want, largest);
    } else {
      tally.Output(name, got.mapped(), want);
    }
  }
  for (const auto& [name, number] : numbers) {
    tally.Fail("the file has no " + name);
  }
}

}  // namespace leadline::golden
