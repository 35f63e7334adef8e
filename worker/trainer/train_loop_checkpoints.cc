// How a training is kept in a checkpoint, goes on from one, or starts with the
// weights of one.

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>
#include <utility>

#include "model/spec/identity.h"
#include "model/spec/start_point.h"
#include "worker/checkpoint/bad_checkpoint.h"
#include "worker/checkpoint/checkpoint.h"
#include "worker/trainer/checkpoint_state.h"
#include "worker/trainer/failure.h"
#include "worker/trainer/room_wait.h"
#include "worker/trainer/strict_json.h"
#include "worker/trainer/train_loop.h"

namespace leadline::trainer {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

void CheckAlphabet(const checkpoint::Manifest& manifest,
                   const dataset::SymbolText& text, const fs::path& folder) {
  if (manifest.vocabulary == text.vocabulary() &&
      manifest.alphabet == text.alphabet()) {
    return;
  }
  throw checkpoint::BadCheckpoint(
      folder.string() +
      " was trained on other symbols: " + std::to_string(manifest.vocabulary) +
      " of them, this text has " + std::to_string(text.vocabulary()));
}

spec::StartPoint StartPointOf(const checkpoint::Manifest& manifest) {
  return {manifest.settings, manifest.dataset.tokenizer, manifest.vocabulary,
          manifest.Seeds()};
}

}  // namespace

void TrainLoop::BeginCheckpoint() {
  // One copy at a time is what the memory forecast counts.
  checkpoint_writer_->Wait();
  ReportCheckpoints();
  checkpoint::Manifest manifest;
  manifest.settings = settings_;
  manifest.cell_hash = spec::CellHash(settings_, config_.dataset);
  manifest.dataset = config_.dataset;
  manifest.vocabulary = text_.vocabulary();
  manifest.alphabet = text_.alphabet();
  manifest.step = steps_done_;
  manifest.evaluation_due = evaluation_due_;
  const IntervalMeans::Sums sums = means_.Save(decoder_.replicas());
  const std::vector<ReplicaHealth::Ending> endings = health_.Save();
  manifest.interval_steps = sums.steps;
  for (size_t r = 0; r < config_.seeds.size(); ++r) {
    manifest.replicas.push_back({.seed = config_.seeds[r],
                                 .ended = endings[r].cause,
                                 .end_step = endings[r].step,
                                 .best_loss = best_[r].loss,
                                 .best_step = best_[r].step,
                                 .sums = sums.of_replica[r]});
  }
  checkpoint_writer_->Write(std::move(manifest),
                            TakeSnapshot(decoder_, optimizer_));
  checkpoint_schedule_.Written(steady_clock::now());
  steps_kept_ = steps_done_;
}

bool TrainLoop::CheckpointIsDue() {
  return checkpoint_writer_ &&
         checkpoint_schedule_.IsDue(steps_done_ + 1, steady_clock::now());
}

void TrainLoop::KeepCheckpoint() {
  if (communicator_.size() > 1) {
    if (!agreement_.CheckpointIsDue()) {
      if (checkpoint_writer_) ReportCheckpoints();
      return;
    }
    if (checkpoint_writer_) BeginCheckpoint();
    // The disk of rank 0 may be slow, and is nobody's fault.
    communicator_.Barrier(collective::kLongestPause);
  } else if (checkpoint_writer_ &&
             checkpoint_schedule_.IsDue(steps_done_, steady_clock::now())) {
    BeginCheckpoint();
  }
  if (checkpoint_writer_) ReportCheckpoints();
}

void TrainLoop::ReportCheckpoints() {
  for (const CheckpointEvent& event : checkpoint_writer_->TakeWritten()) {
    events_.Write(event);
  }
}

void TrainLoop::KeepWhatIsDone() {
  if (!checkpoint_writer_ || !checkpoint_schedule_.WantedAtStop()) return;
  progress_.Show("checkpoint");
  try {
    if (steps_done_ > steps_kept_) BeginCheckpoint();
    checkpoint_writer_->Wait();
    ReportCheckpoints();
  } catch (const std::system_error& error) {
    // The stop is what ends the attempt; the checkpoint before serves.
    if (!IsLackOfRoom(error.code().value())) throw;
    std::cerr << "stopped without a checkpoint of step " << steps_done_ << ": "
              << error.what() << '\n';
  }
}

void TrainLoop::FinishCheckpoints() {
  if (!checkpoint_writer_) return;
  checkpoint_writer_->Wait();
  ReportCheckpoints();
  if (checkpoint_schedule_.GoWithTheEnd())
    checkpoint_writer_->series().Prune({});
}

checkpoint::Series TrainLoop::SeriesIn(const fs::path& folder) const {
  return {folder, spec::CellHash(settings_, config_.dataset), config_.seeds};
}

void TrainLoop::GoOnFrom(const std::string& folder) {
  if (fs::is_directory(folder) &&
      !fs::exists(fs::path(folder) / checkpoint::kManifestFile)) {
    return GoOnFromNewest(SeriesIn(folder));
  }
  const checkpoint::Checkpoint from(folder);
  const checkpoint::Manifest& manifest = from.manifest();
  if (manifest.cell_hash != spec::CellHash(settings_, config_.dataset)) {
    throw ConfigError("resume: " + folder + " is a checkpoint of another cell");
  }
  if (manifest.Seeds() != config_.seeds) {
    throw ConfigError("resume: " + folder + " holds other seeds");
  }
  Restore(from);
}

void TrainLoop::GoOnFromNewest(const checkpoint::Series& series) {
  series.RemoveUnfinished();
  const auto from = series.NewestWhole(
      [](const std::string& message) { std::cerr << message << '\n'; });
  if (!from) {
    std::cerr << "no checkpoint to go on from in " << series.root().string()
              << ", training begins at step 0\n";
    return;
  }
  Restore(*from);
}

void TrainLoop::Restore(const checkpoint::Checkpoint& from) {
  const checkpoint::Manifest& manifest = from.manifest();
  if (manifest.step > settings_.Integer("steps")) {
    throw ConfigError("resume: " + from.folder().string() +
                      " is beyond the last step");
  }
  CheckAlphabet(manifest, text_, from.folder());
  LoadState(from, decoder_, optimizer_);
  TakeOverProgress(manifest);
  restored_ = manifest;
  std::cerr << "going on from step " << steps_done_ << ", "
            << from.folder().string() << '\n';
}

void TrainLoop::TakeOverProgress(const checkpoint::Manifest& manifest) {
  steps_done_ = manifest.step;
  steps_kept_ = manifest.step;
  evaluation_due_ = manifest.evaluation_due;
  IntervalMeans::Sums sums{manifest.interval_steps, {}};
  std::vector<ReplicaHealth::Ending> endings;
  for (size_t r = 0; r < manifest.replicas.size(); ++r) {
    const checkpoint::ReplicaProgress& replica = manifest.replicas[r];
    best_[r] = {replica.best_loss, replica.best_step};
    sums.of_replica.push_back(replica.sums);
    endings.push_back({replica.ended, replica.end_step});
  }
  means_.Restore(sums, device_);
  health_.Restore(endings);
}

void TrainLoop::StartFrom(const std::string& hash, const std::string& folder) {
  if (folder == "off") {
    throw ConfigError("init_from is given without init_from_path");
  }
  const checkpoint::Checkpoint from(folder);
  if (from.hash() != hash) {
    throw checkpoint::BadCheckpoint(
        folder +
        " is not the checkpoint the cell starts from: it has the hash " +
        from.hash() + ", not " + hash);
  }
  CheckAlphabet(from.manifest(), text_, folder);
  spec::Dataset dataset = config_.dataset;
  dataset.vocabulary = text_.vocabulary();
  const auto errors = spec::WhyNotFrom(StartPointOf(from.manifest()), settings_,
                                       dataset, config_.seeds);
  if (!errors.empty()) {
    throw checkpoint::BadCheckpoint(errors.front().message);
  }
  LoadWeights(from, config_.seeds, decoder_);
  has_weights_ = true;
}

void TrainLoop::ShareWithRanks() {
  if (communicator_.size() == 1) return;
  const torch::NoGradGuard no_grad;
  // Rank 0 may have had much to read.
  communicator_.Barrier(collective::kLongestPause);
  const std::string text =
      restored_ ? checkpoint::ManifestJson(*restored_) : std::string();
  torch::Tensor sizes =
      torch::tensor({static_cast<int64_t>(text.size()), int64_t{has_weights_}});
  communicator_.Broadcast(sizes, 0);
  const auto bytes = sizes[0].item<int64_t>();
  if (bytes == 0) {
    if (sizes[1].item<int64_t>() != 0) ShareTensors(/*with_moments=*/false);
    return;
  }
  torch::Tensor manifest = torch::empty({bytes}, torch::kUInt8);
  auto* const first = manifest.mutable_data_ptr<uint8_t>();
  std::copy(text.begin(), text.end(), first);
  communicator_.Broadcast(manifest, 0);
  if (!IsFirstRank()) {
    TakeOverProgress(checkpoint::ParseManifest(
        {reinterpret_cast<const char*>(first), static_cast<size_t>(bytes)}));
  }
  ShareTensors(/*with_moments=*/true);
}

void TrainLoop::ShareTensors(bool with_moments) {
  const auto share = [&](const torch::Tensor& values) {
    torch::Tensor tensor = values.detach();
    communicator_.Broadcast(tensor, 0);
  };
  for (const model::NamedParameter& p : decoder_.parameters_in_order()) {
    share(p.tensor);
  }
  if (!with_moments) return;
  for (const torch::Tensor& moment : optimizer_.first_moments()) share(moment);
  for (const torch::Tensor& moment : optimizer_.second_moments()) share(moment);
}

void TrainLoop::TakeOverWeights() {
  if (config_.resume) return GoOnFrom(*config_.resume);
  const std::string& hash = settings_.Word("init_from");
  if (hash != "off") StartFrom(hash, settings_.Word("init_from_path"));
}

}  // namespace leadline::trainer
