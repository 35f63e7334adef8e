// Kind model: a whole decoder with given parameters, and all its gradients.

#include "model/decoder.h"
#include "tests/golden/golden_settings.h"
#include "tests/golden/kinds.h"

namespace leadline::golden {
namespace {

using torch::Tensor;

class Weights : public model::RouterObserver {
 public:
  Weights(const GoldenFile& file, Tally& tally) : file_(file), tally_(tally) {}

  void OnRoute(const model::RouteRecord& record) override {
    if (record.labels.size() == 1) return;
    const std::string q = std::to_string(record.router);
    const std::string name =
        "out.weights." + std::string(2 - std::min<size_t>(q.size(), 2), '0') +
        q;
    tally_.Output(name, record.weights_JRBT, file_.Tensor(name));
    ++seen_;
  }

  int64_t seen() const { return seen_; }

 private:
  const GoldenFile& file_;
  Tally& tally_;
  int64_t seen_ = 0;
};

void CompareGradients(const GoldenFile& file, const model::Decoder& decoder,
                      Tally& tally) {
  auto wanted = file.WithPrefix("grad.");
  double largest = 0;
  for (const auto& [name, gradient] : wanted) {
    largest = std::max(largest, gradient.norm().item<double>());
  }
  for (const model::NamedParameter& parameter : decoder.parameters_in_order()) {
    const auto want = wanted.extract(parameter.name);
    if (want.empty()) {
      tally.Fail("no gradient of " + parameter.name + " in the file");
      continue;
    }
    tally.Gradient("gradient of " + parameter.name, parameter.tensor.grad(),
                   want.mapped(), largest);
  }
  for (const auto& [name, gradient] : wanted) {
    tally.Fail("the model has no parameter " + name);
  }
}

}  // namespace

void CheckModel(const GoldenFile& file, torch::ScalarType type, Tally& tally) {
  const int64_t replicas = file.config().at("R").get<int64_t>();
  model::Decoder decoder(SettingsOf(file),
                         file.config().at("vocab").get<int64_t>(),
                         std::vector<int64_t>(replicas, 1), type);
  for (const auto& [name, value] : file.WithPrefix("param.")) {
    decoder.SetParameter(name, value);
  }
  Weights weights(file, tally);
  const Tensor logits =
      decoder.Forward(file.Tensor("in.tokens"), {.observer = &weights});
  const Tensor losses = model::TokenLosses(logits, file.Tensor("in.targets"));
  const Tensor loss_R = losses.mean({1, 2});
  tally.Output("logits", logits, file.Tensor("out.logits"));
  tally.Output("loss", loss_R, file.Tensor("out.loss"));
  if (weights.seen() !=
      static_cast<int64_t>(file.WithPrefix("out.weights.").size())) {
    tally.Fail("routers seen: " + std::to_string(weights.seen()));
  }
  loss_R.sum().backward();
  CompareGradients(file, decoder, tally);
}

}  // namespace leadline::golden
