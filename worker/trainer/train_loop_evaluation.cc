// What a training is measured by: fixed windows, figures, whole splits,
// results.

#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>
#include <utility>

#include "model/spec/evaluation_batch.h"
#include "worker/trainer/causal_check.h"
#include "worker/trainer/determinism_check.h"
#include "worker/trainer/device_memory.h"
#include "worker/trainer/parameter_check.h"
#include "worker/trainer/routing_report.h"
#include "worker/trainer/train_loop.h"

namespace leadline::trainer {

double TrainLoop::TokensPerSecond(const std::vector<Window>& windows,
                                  double start) const {
  int64_t tokens = 0;
  for (const Window& window : windows) tokens += window.length;
  return static_cast<double>(tokens * decoder_.replicas()) /
         (events_.Seconds() - start);
}

void TrainLoop::EvaluateWindows() {
  CheckSameParameters(decoder_, communicator_, steps_done_);
  const double start = events_.Seconds();
  const torch::Tensor losses_RP = EvaluateFixed(
      decoder_, text_.validation(), fixed_windows_, device_,
      [&] { agreement_.Breathe(); }, nullptr, &communicator_);
  EvaluationEvent event{.step = steps_done_,
                        .split = "validation",
                        .fixed = true,
                        .loss = ToVector(losses_RP.mean(1))};
  event.tokens_per_second = TokensPerSecond(fixed_windows_, start);
  event.peak_bytes = PeakDeviceBytes(device_);
  Silence(event.loss);
  for (size_t r = 0; r < best_.size(); ++r) {
    event.windows.push_back(ToVector(losses_RP[static_cast<int64_t>(r)]));
    if (std::isnan(event.loss[r])) {
      std::fill(event.windows[r].begin(), event.windows[r].end(),
                event.loss[r]);
    }
    const double loss = event.loss[r];
    if (std::isfinite(loss) && !(loss >= best_[r].loss)) {
      best_[r] = {loss, steps_done_};
    }
  }
  events_.Write(event);
  if (settings_.IsOn("diagnostics")) WriteFigures(event, losses_RP);
  evaluation_due_ = false;
}

void TrainLoop::WriteFigures(const EvaluationEvent& evaluation,
                             const torch::Tensor& losses_RP) {
  const auto probe =
      std::span(probe_windows_)
          .first(std::min<size_t>(spec::kProbeWindows, probe_windows_.size()));
  std::vector<model::Figures> figures =
      MeasureFigures(decoder_, settings_, text_.validation(), probe, device_);
  for (model::Figures& of_replica : figures) {
    of_replica.values["cost.evaluation_tokens_per_second"] = {
        evaluation.tokens_per_second};
    of_replica.values["cost.peak_bytes"] = {
        static_cast<double>(evaluation.peak_bytes)};
  }
  if (evaluation.step == settings_.Integer("steps")) {
    progress_.Show("causal check");
    AddCausalFigures(
        decoder_, text_.validation(), fixed_windows_, losses_RP, device_,
        [&] { agreement_.Breathe(); }, figures, &communicator_);
  }
  for (const RoutingEvent& event : ReportFigures(figures, evaluation.step)) {
    if (health_.IsAlive(event.replica)) events_.Write(event);
  }
}

std::vector<double> TrainLoop::EvaluateSplit(const char* name,
                                             std::span<const uint16_t> symbols,
                                             std::vector<int64_t> story_ends) {
  const double start = events_.Seconds();
  const auto windows = SplitWindows(
      settings_, static_cast<int64_t>(symbols.size()), std::move(story_ends));
  std::vector<double> losses = ToVector(EvaluateFull(
      decoder_, symbols, windows, device_, [&] { agreement_.Breathe(); },
      &communicator_));
  Silence(losses);
  events_.Write(
      EvaluationEvent{.step = settings_.Integer("steps"),
                      .split = name,
                      .fixed = false,
                      .loss = losses,
                      .tokens_per_second = TokensPerSecond(windows, start),
                      .peak_bytes = PeakDeviceBytes(device_)});
  return losses;
}

Determinism TrainLoop::CheckSameNumbers() {
  if (!settings_.IsOn("diagnostics")) return Determinism::kUnknown;
  progress_.Show("determinism check");
  const int64_t step = settings_.Integer("steps");
  const int64_t share =
      settings_.Integer("batch_sequences") / communicator_.size();
  std::vector<int64_t> alive;
  for (int64_t r = 0; r < decoder_.replicas(); ++r) {
    if (health_.IsAlive(r)) alive.push_back(r);
  }
  const DeterminismReport report = CheckDeterminism(
      decoder_, alive, communicator_,
      [&] {
        agreement_.Breathe();
        return ComputedStep{
            batches_.Read(step, communicator_.rank() * share, share).tokens_RBT,
            gradient_.Compute(step)};
      },
      RepeatTolerance(settings_.Word("precision")));
  if (!alive.empty() && report.determinism != Determinism::kBitExact) {
    std::cerr << Explain(report) << '\n';
  }
  return report.determinism;
}

void TrainLoop::WriteResults() {
  progress_.Show("final evaluation");
  const std::vector<double> validation =
      EvaluateSplit("validation", text_.validation(), text_.validation_ends());
  std::vector<double> test;
  if (!text_.test().empty()) {
    test = EvaluateSplit("test", text_.test(), text_.test_ends());
  }
  const Determinism determinism = CheckSameNumbers();
  // A result is one that every rank has come to.
  communicator_.Barrier();
  const int64_t steps = settings_.Integer("steps");
  for (size_t r = 0; r < validation.size(); ++r) {
    const auto replica = static_cast<int64_t>(r);
    if (!health_.IsAlive(replica)) continue;
    events_.Write(ReplicaEndEvent{.replica = replica,
                                  .seed = config_.seeds[r],
                                  .state = ReplicaState::kSucceeded,
                                  .step = steps});
    events_.Write(ResultEvent{
        .replica = replica,
        .seed = config_.seeds[r],
        .validation_loss = validation[r],
        .test_loss = test.empty() ? std::nullopt : std::optional(test[r]),
        .best_validation_loss = best_[r].loss,
        .best_step = best_[r].step,
        .unit = config_.dataset.tokenizer == "byte" ? "nats/byte" : "nats/char",
        .steps = steps,
        .tokens = steps * settings_.Integer("batch_sequences") *
                  settings_.Integer("context"),
        .seconds = events_.Seconds(),
        .peak_bytes = PeakDeviceBytes(device_),
        .parameters = parameters_,
        .determinism = determinism});
  }
}

}  // namespace leadline::trainer
