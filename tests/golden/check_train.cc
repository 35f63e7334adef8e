// Kind train: some steps of a small training run in float64.

#include "tests/golden/golden_settings.h"
#include "tests/golden/kinds.h"
#include "worker/collective/communicator.h"
#include "worker/trainer/adam_w.h"
#include "worker/trainer/batches.h"
#include "worker/trainer/gradient.h"
#include "worker/trainer/schedule.h"

namespace leadline::golden {
namespace {

using torch::Tensor;

spec::Settings TrainingSettings(const GoldenFile& file) {
  const nlohmann::json& training = file.config().at("training");
  spec::GivenSettings given = SettingsOf(file).values();
  for (const char* key : {"batch_sequences", "context", "steps"}) {
    given[key] = training.at(key).get<int64_t>();
  }
  for (const char* key : {"lr", "lr_min", "beta1", "beta2", "adam_eps",
                          "weight_decay", "clip", "router_lr_mult"}) {
    given[key] = training.at(key).get<double>();
  }
  given["warmup"] = 0.02;
  given["decay_all"] = "off";
  given["micro_batch"] = "auto";
  return spec::Settings(std::move(given));
}

std::vector<uint16_t> Symbols(const GoldenFile& file) {
  const Tensor tokens = file.Tensor("in.tokens").contiguous();
  const auto* first = tokens.const_data_ptr<int64_t>();
  return {first, first + tokens.numel()};
}

struct Steps {
  std::vector<Tensor> starts, loss, norm, factor, lr;
};

void CompareEnd(const GoldenFile& file, const model::Decoder& decoder,
                Tally& tally) {
  const auto want = file.WithPrefix("param_end.");
  for (const model::NamedParameter& parameter : decoder.parameters_in_order()) {
    const Tensor& end = want.at(parameter.name);
    const double distance =
        (parameter.tensor.detach() - end).norm().item<double>();
    const double limit =
        tally.tolerance().parameter * end.norm().item<double>();
    if (!(distance <= limit)) {
      tally.Fail("param_end." + parameter.name + " is " +
                 std::to_string(distance) + " away");
    }
  }
  if (want.size() != decoder.parameters_in_order().size()) {
    tally.Fail("the file has " + std::to_string(want.size()) +
               " parameters, the model another number");
  }
}

}  // namespace

void CheckTrain(const GoldenFile& file, torch::ScalarType, Tally& tally) {
  const spec::Settings settings = TrainingSettings(file);
  const std::vector<int64_t> seeds = SeedsOf(file);
  const std::vector<uint16_t> symbols = Symbols(file);
  const model::Decoder decoder(settings,
                               file.config().at("vocab").get<int64_t>(), seeds,
                               torch::kFloat64);
  const trainer::Batches batches(symbols, seeds, settings.Integer("context"));
  const auto communicator = collective::MakeSoloCommunicator();
  trainer::Gradient gradient(decoder, settings, batches, *communicator,
                             torch::kCPU);
  trainer::AdamW optimizer(decoder.parameters_in_order(), settings);
  const trainer::Schedule schedule(settings);
  const auto replicas = static_cast<int64_t>(seeds.size());
  const Tensor alive_R = torch::ones({replicas}, torch::kBool);

  Steps steps;
  const auto count =
      file.config().at("training").at("run_steps").get<int64_t>();
  for (int64_t step = 0; step < count; ++step) {
    const int64_t sequences = settings.Integer("batch_sequences");
    steps.starts.push_back(
        torch::tensor(batches.Starts(step, 0, sequences), torch::kInt64)
            .view({replicas, sequences}));
    steps.loss.push_back(gradient.Compute(step));
    steps.norm.push_back(optimizer.GradientNorms_R());
    steps.factor.push_back(optimizer.ClipFactors_R(steps.norm.back()));
    const double rate = schedule.LearningRate(step);
    steps.lr.push_back(torch::tensor(rate, torch::kFloat64));
    optimizer.Step(steps.factor.back(), alive_R, rate, step);
  }
  tally.Exact("starts", torch::stack(steps.starts), file.Tensor("out.starts"));
  tally.Absolute("loss", torch::stack(steps.loss), file.Tensor("out.loss"),
                 tally.tolerance().forward);
  tally.Output("norm", torch::stack(steps.norm), file.Tensor("out.norm"));
  tally.Output("factor", torch::stack(steps.factor), file.Tensor("out.factor"));
  tally.Output("lr", torch::stack(steps.lr), file.Tensor("out.lr"));
  CompareEnd(file, decoder, tally);
}

}  // namespace leadline::golden
