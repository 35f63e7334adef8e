// How a training is kept in a checkpoint, goes on from one, or starts with the
// weights of one.

#include <chrono>
#include <cstdio>
#include <filesystem>

#include "model/spec/identity.h"
#include "model/spec/start_point.h"
#include "worker/checkpoint/bad_checkpoint.h"
#include "worker/checkpoint/checkpoint.h"
#include "worker/trainer/checkpoint_state.h"
#include "worker/trainer/failure.h"
#include "worker/trainer/strict_json.h"
#include "worker/trainer/train_loop.h"

namespace leadline::trainer {
namespace {

namespace fs = std::filesystem;

fs::path FolderOf(const std::string& attempt, int64_t step) {
  char name[32];
  std::snprintf(name, sizeof name, "step-%09lld", static_cast<long long>(step));
  return fs::path(attempt) / "checkpoints" / name;
}

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

bool TrainLoop::WantsCheckpoint(int64_t steps_done) const {
  const auto& value = settings_.values().find("checkpoint_every")->second;
  if (!config_.folder || value == spec::Value("off")) return false;
  if (steps_done == settings_.Integer("steps")) return true;
  const auto* every = std::get_if<int64_t>(&value);
  return every != nullptr && steps_done % *every == 0;
}

void TrainLoop::WriteCheckpoint(int64_t steps_done) {
  const auto start = std::chrono::steady_clock::now();
  checkpoint::Manifest manifest;
  manifest.settings = settings_;
  manifest.cell_hash = spec::CellHash(settings_, config_.dataset);
  manifest.dataset = config_.dataset;
  manifest.vocabulary = text_.vocabulary();
  manifest.alphabet = text_.alphabet();
  manifest.step = steps_done;
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
  const fs::path folder = FolderOf(*config_.folder, steps_done);
  const auto done =
      SaveCheckpoint(folder, std::move(manifest), decoder_, optimizer_);
  events_.Write(
      CheckpointEvent{.step = steps_done,
                      .folder = folder.string(),
                      .bytes = done.bytes,
                      .seconds = std::chrono::duration<double>(
                                     std::chrono::steady_clock::now() - start)
                                     .count()});
}

void TrainLoop::GoOnFrom(const std::string& folder) {
  const checkpoint::Checkpoint from(folder);
  const checkpoint::Manifest& manifest = from.manifest();
  if (manifest.cell_hash != spec::CellHash(settings_, config_.dataset)) {
    throw ConfigError("resume: " + folder + " is a checkpoint of another cell");
  }
  if (manifest.Seeds() != config_.seeds) {
    throw ConfigError("resume: " + folder + " holds other seeds");
  }
  if (manifest.step > settings_.Integer("steps")) {
    throw ConfigError("resume: " + folder + " is beyond the last step");
  }
  CheckAlphabet(manifest, text_, folder);
  LoadState(from, decoder_, optimizer_);
  first_step_ = manifest.step;
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
}

void TrainLoop::TakeOverWeights() {
  if (config_.resume) return GoOnFrom(*config_.resume);
  const std::string& hash = settings_.Word("init_from");
  if (hash != "off") StartFrom(hash, settings_.Word("init_from_path"));
}

}  // namespace leadline::trainer
