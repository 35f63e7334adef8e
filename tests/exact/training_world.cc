#include "tests/exact/training_world.h"

#include "common/random_stream.h"
#include "model/spec/identity.h"
#include "tests/exact/world.h"
#include "worker/checkpoint/checkpoint.h"
#include "worker/trainer/checkpoint_state.h"

namespace leadline::exact {

using torch::Tensor;

namespace {

std::vector<uint16_t> LearnableText() {
  const RandomStream stream(3, "tests/text");
  std::vector<uint16_t> symbols = {0};
  for (uint64_t i = 1; i < 4000; ++i) {
    symbols.push_back((3 * symbols.back() + stream.Integer(i, 2) + 1) %
                      kVocabulary);
  }
  return symbols;
}

}  // namespace

Training::Training(const spec::Settings& settings,
                   const std::vector<int64_t>& seeds,
                   const torch::TensorOptions& type)
    : decoder(settings, kVocabulary, seeds, type),
      health(seeds, std::nullopt, torch::kCPU),
      settings_(settings),
      seeds_(seeds),
      text_(LearnableText()),
      batches_(text_, seeds, settings.Integer("context")),
      communicator_(collective::MakeSoloCommunicator()),
      gradient_(decoder, settings, batches_, *communicator_, torch::kCPU),
      optimizer_(decoder.parameters_in_order(), settings),
      schedule_(settings) {}

StepResult Training::Step() {
  StepResult result;
  result.loss_R = gradient_.Compute(step_);
  result.norm_R = optimizer_.GradientNorms_R();
  result.factor_R = optimizer_.ClipFactors_R(result.norm_R);
  health.Judge(result.loss_R, result.norm_R, step_ + 1);
  optimizer_.Step(result.factor_R, health.alive_R(),
                  schedule_.LearningRate(step_), step_);
  ++step_;
  return result;
}

Tensor Training::Losses(int64_t steps) {
  std::vector<Tensor> losses;
  for (int64_t i = 0; i < steps; ++i) losses.push_back(Step().loss_R);
  return torch::stack(losses);
}

void Training::Save(const std::filesystem::path& folder) const {
  trainer::WriteSnapshot(folder, ManifestOf(settings_, seeds_, step_),
                         trainer::TakeSnapshot(decoder, optimizer_));
}

void Training::Load(const std::filesystem::path& folder) {
  const checkpoint::Checkpoint from(folder);
  EXPECT_EQ(from.manifest().Seeds(), seeds_);
  trainer::LoadState(from, decoder, optimizer_);
  step_ = from.manifest().step;
}

spec::Settings Trained(const std::string& method, const char* precision,
                       const spec::GivenSettings& extra) {
  spec::GivenSettings given = {{"lr", 1e-3},
                               {"steps", int64_t{100}},
                               {"batch_sequences", int64_t{4}},
                               {"precision", std::string(precision)}};
  for (const auto& [key, value] : extra) given[key] = value;
  return Small(method, 3, given);
}

checkpoint::Manifest ManifestOf(const spec::Settings& settings,
                                const std::vector<int64_t>& seeds,
                                int64_t step) {
  checkpoint::Manifest manifest;
  manifest.settings = settings;
  manifest.dataset.name = "text";
  manifest.dataset.content_hash = std::string(64, '0');
  manifest.cell_hash = spec::CellHash(settings, manifest.dataset);
  manifest.vocabulary = kVocabulary;
  for (char32_t symbol = 0; symbol < kVocabulary; ++symbol) {
    manifest.alphabet.push_back(U'a' + symbol);
  }
  manifest.step = step;
  for (const int64_t seed : seeds) {
    manifest.replicas.emplace_back().seed = seed;
  }
  return manifest;
}

}  // namespace leadline::exact
