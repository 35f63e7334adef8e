#include "worker/trainer/checkpoint_writer.h"

#include <iostream>
#include <utility>

namespace leadline::trainer {
namespace {

using std::chrono::steady_clock;

CheckpointEvent WriteOne(const checkpoint::Series& series,
                         const checkpoint::Series::Kept& keep,
                         checkpoint::Manifest manifest,
                         const Snapshot& snapshot,
                         steady_clock::time_point start) {
  const int64_t step = manifest.step;
  series.Remove(step);
  const auto folder = series.FolderOf(step);
  const auto done = WriteSnapshot(folder, std::move(manifest), snapshot);
  const std::chrono::duration<double> seconds = steady_clock::now() - start;
  const checkpoint::Series::Freed freed = series.Prune(keep);
  for (const int64_t removed : freed.steps) {
    std::cerr << "removed the checkpoint of step " << removed << '\n';
  }
  return {.step = step,
          .folder = folder.string(),
          .bytes = done.bytes,
          .seconds = seconds.count()};
}

}  // namespace

CheckpointWriter::CheckpointWriter(checkpoint::Series series,
                                   checkpoint::Series::Kept keep)
    : series_(std::move(series)), keep_(keep) {}

void CheckpointWriter::Write(checkpoint::Manifest manifest, Snapshot snapshot) {
  const auto start = steady_clock::now();
  if (pending_.valid()) written_.push_back(pending_.get());
  pending_ = std::async(
      std::launch::async, [this, start, manifest = std::move(manifest),
                           snapshot = std::move(snapshot)]() mutable {
        return WriteOne(series_, keep_, std::move(manifest), snapshot, start);
      });
}

std::vector<CheckpointEvent> CheckpointWriter::TakeWritten() {
  const bool is_done =
      pending_.valid() &&
      pending_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  if (is_done) written_.push_back(pending_.get());
  return std::exchange(written_, {});
}

void CheckpointWriter::Wait() const {
  if (pending_.valid()) pending_.wait();
}

}  // namespace leadline::trainer
