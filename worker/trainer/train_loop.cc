#include "worker/trainer/train_loop.h"

#include <chrono>
#include <cmath>

#include <ATen/Version.h>
#include <torch/version.h>

#include "common/build_info.h"
#include "worker/dataset/text_facts.h"
#include "worker/trainer/json_line.h"
#include "worker/trainer/parameter_check.h"

namespace leadline::trainer {
namespace {

std::vector<int64_t> DataSeeds(const spec::TrainerConfig& config) {
  const auto& value = config.settings.values().find("data_seed")->second;
  const auto* seed = std::get_if<int64_t>(&value);
  return seed == nullptr ? config.seeds
                         : std::vector<int64_t>(config.seeds.size(), *seed);
}

constexpr std::string_view kRespect = "respect_documents";

std::optional<Documents> TrainDocuments(const spec::Settings& settings,
                                        const dataset::SymbolText& text) {
  if (!settings.IsOn(kRespect)) return std::nullopt;
  return Documents(text.train_ends());
}

std::vector<Window> ValidationWindows(const spec::Settings& settings,
                                      const dataset::SymbolText& text) {
  const int64_t context = settings.Integer("context");
  const int64_t count = settings.Integer("eval_windows");
  if (!settings.IsOn(kRespect)) {
    return FixedWindows(static_cast<int64_t>(text.validation().size()), context,
                        count);
  }
  return FixedWindows(Documents(text.validation_ends()), context, count);
}

std::vector<std::pair<std::string, std::string>> DataFields(
    const dataset::TextFacts& facts) {
  return {{"train", std::to_string(facts.train)},
          {"validation", std::to_string(facts.validation)},
          {"test", std::to_string(facts.test)},
          {"vocabulary", std::to_string(facts.vocabulary)},
          {"unknown_validation", std::to_string(facts.unknown_validation)},
          {"unknown_test", std::to_string(facts.unknown_test)},
          {"stories", std::to_string(facts.stories)},
          {"duplicates", std::to_string(facts.duplicates)},
          {"bytes_per_character", JsonNumber(facts.bytes_per_character)}};
}

std::vector<std::pair<std::string, std::string>> Libraries(
    const collective::Communicator& communicator) {
  std::vector<std::pair<std::string, std::string>> libraries = {
      {"torch", TORCH_VERSION}, {"cpu", at::get_cpu_capability()}};
  if (communicator.size() > 1) {
    libraries.emplace_back("collective", communicator.Transport());
    libraries.emplace_back("ranks", std::to_string(communicator.size()));
  }
  return libraries;
}

int64_t CountOfOneReplica(const model::Decoder& decoder) {
  int64_t count = 0;
  for (const model::NamedParameter& parameter : decoder.parameters_in_order()) {
    count += parameter.tensor.numel() / decoder.replicas();
  }
  return count;
}

double Mean(const std::vector<double>& values) {
  double sum = 0;
  int64_t count = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    sum += value;
    ++count;
  }
  return sum / static_cast<double>(count);
}

}  // namespace

torch::TensorOptions ParameterOptions(const spec::Settings& settings,
                                      const torch::Device& device) {
  const bool wide = settings.Word("precision") == "fp64";
  return torch::TensorOptions()
      .dtype(wide ? torch::kFloat64 : torch::kFloat32)
      .device(device);
}

std::string NumericsClass(const spec::Settings& settings, size_t replicas) {
  return (replicas == 1 ? "solo-" : "fused-") + settings.Word("precision");
}

TrainLoop::TrainLoop(const spec::TrainerConfig& config,
                     const dataset::SymbolText& text,
                     collective::Communicator& communicator,
                     RunControl& control, EventWriter& events)
    : config_(config),
      settings_(config.settings),
      text_(text),
      communicator_(communicator),
      events_(events),
      device_(config.device),
      decoder_(settings_, text.vocabulary(), config.seeds,
               ParameterOptions(settings_, device_)),
      documents_(TrainDocuments(settings_, text)),
      batches_(text.train(), DataSeeds(config), settings_.Integer("context"),
               documents_ ? &*documents_ : nullptr),
      gradient_(decoder_, settings_, batches_, communicator, device_,
                config.overlap),
      optimizer_(decoder_.parameters_in_order(), settings_),
      schedule_(settings_),
      health_(config.seeds, settings_.NumberUnlessWord("divergence_loss"),
              device_),
      agreement_(communicator, control,
                 static_cast<int64_t>(config.seeds.size())),
      fixed_windows_(ValidationWindows(settings_, text)),
      probe_windows_(FixedWindows(
          static_cast<int64_t>(text.validation().size()),
          settings_.Integer("context"), settings_.Integer("eval_windows"))),
      best_(config.seeds.size()),
      progress_(settings_.Integer("steps"), communicator.rank() > 0),
      parameters_(CountOfOneReplica(decoder_)),
      checkpoint_schedule_(settings_, std::chrono::steady_clock::now()) {
  if (!IsFirstRank()) {
    events_.TellStartAndEndAlone();
  } else if (config.folder && checkpoint_schedule_.Wanted()) {
    checkpoint_writer_.emplace(
        SeriesIn(std::filesystem::path(*config.folder) /
                 checkpoint::kSeriesFolder),
        checkpoint::Series::Kept{.newest = settings_.Integer("checkpoint_keep"),
                                 .best = !checkpoint_schedule_.GoWithTheEnd()},
        control);
  }
}

void TrainLoop::Run() {
  communicator_.SetStep(steps_done_);
  if (IsFirstRank()) TakeOverWeights();
  ShareWithRanks();
  WriteStart();
  CheckSameParameters(decoder_, communicator_, steps_done_);
  try {
    Train();
  } catch (const Stopped&) {
    KeepWhatIsDone();
    throw;
  }
  if (!health_.AnyAlive() && !health_.AnyDiverged()) {
    throw Stopped{{AttemptOutcome::kCancelled, std::nullopt,
                   "every replica was dropped"}};
  }
  FinishCheckpoints();
}

void TrainLoop::Train() {
  const int64_t steps = settings_.Integer("steps");
  const int64_t log_every = settings_.Integer("log_every");
  const int64_t eval_every = settings_.Integer("eval_every");
  if (evaluation_due_) EvaluateWindows();
  while (steps_done_ < steps) {
    agreement_.BeforeStep(CheckpointIsDue());
    for (const int64_t replica : agreement_.TakeDrops()) {
      health_.Drop(replica, steps_done_);
    }
    TakeStep(steps_done_++);
    evaluation_due_ = steps_done_ % eval_every == 0 || steps_done_ == steps;
    if (steps_done_ % log_every == 0 || evaluation_due_) ReportInterval();
    if (!health_.AnyAlive()) return;
    if (evaluation_due_) EvaluateWindows();
    KeepCheckpoint();
  }
  WriteResults();
}

void TrainLoop::WriteStart() {
  events_.Write(StartEvent{
      .version = std::string(BuildVersion()),
      .commit = std::string(BuildCommit()),
      .settings_hash = spec::CellHash(settings_, config_.dataset),
      .data_hash = config_.dataset.content_hash,
      .seeds = config_.seeds,
      .device = config_.device,
      .threads = at::get_num_threads(),
      .numerics = NumericsClass(settings_, config_.seeds.size()),
      .parameters = parameters_,
      .tokens_per_step =
          settings_.Integer("batch_sequences") * settings_.Integer("context"),
      .libraries = Libraries(communicator_),
      .data = DataFields(dataset::FactsOf(text_))});
}

void TrainLoop::TakeStep(int64_t step) {
  const auto start = std::chrono::steady_clock::now();
  communicator_.SetStep(step + 1);
  const torch::Tensor loss_R = gradient_.Compute(step);
  const torch::Tensor norm_R = optimizer_.GradientNorms_R();
  const torch::Tensor factor_R = optimizer_.ClipFactors_R(norm_R);
  health_.Judge(loss_R, norm_R, step + 1);
  optimizer_.Step(factor_R, health_.alive_R(), schedule_.LearningRate(step),
                  step);
  means_.Add(loss_R, norm_R, factor_R);
  interval_seconds_ +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
}

void TrainLoop::ReportInterval() {
  const auto start = std::chrono::steady_clock::now();
  IntervalMeans::Means means = means_.Take();
  ReportEnds();
  for (std::vector<double>* values :
       {&means.loss, &means.norm, &means.factor}) {
    Silence(*values);
  }
  interval_seconds_ +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  const double step_seconds =
      interval_seconds_ / static_cast<double>(means.steps);
  interval_seconds_ = 0;
  const int64_t tokens =
      settings_.Integer("batch_sequences") * settings_.Integer("context");
  const double tokens_per_second =
      static_cast<double>(tokens * decoder_.replicas()) / step_seconds;
  progress_.Show(steps_done_, Mean(means.loss), tokens_per_second,
                 step_seconds * static_cast<double>(settings_.Integer("steps") -
                                                    steps_done_));
  events_.Write(
      StepEvent{.step = steps_done_,
                .tokens = tokens * steps_done_,
                .train_loss = std::move(means.loss),
                .gradient_norm = std::move(means.norm),
                .clip_factor = std::move(means.factor),
                .learning_rate = schedule_.LearningRate(steps_done_ - 1),
                .step_seconds = step_seconds,
                .tokens_per_second = tokens_per_second});
}

void TrainLoop::ReportEnds() {
  for (const ReplicaEndEvent& end : health_.Read()) events_.Write(end);
}

void TrainLoop::Silence(std::vector<double>& values_R) const {
  for (size_t r = 0; r < values_R.size(); ++r) {
    if (!health_.IsAlive(static_cast<int64_t>(r))) {
      values_R[r] = std::numeric_limits<double>::quiet_NaN();
    }
  }
}

}  // namespace leadline::trainer
