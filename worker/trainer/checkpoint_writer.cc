#include "worker/trainer/checkpoint_writer.h"

#include <iostream>
#include <system_error>
#include <utility>

#include "worker/trainer/room_wait.h"

namespace leadline::trainer {
namespace {

using std::chrono::steady_clock;

// Once: an order to stop does not wait for room.
checkpoint::Draft::Done WriteWhenThereIsRoom(
    const std::filesystem::path& folder, const checkpoint::Manifest& manifest,
    const Snapshot& snapshot, RunControl& control) {
  RoomWait wait(control,
                "the checkpoint of step " + std::to_string(manifest.step),
                folder.parent_path());
  for (;;) {
    try {
      return WriteSnapshot(folder, manifest, snapshot);
    } catch (const std::system_error& error) {
      if (control.IsStopping() || !wait.After(error.code().value())) throw;
    }
  }
}

CheckpointEvent WriteOne(const checkpoint::Series& series,
                         const checkpoint::Series::Kept& keep,
                         const checkpoint::Manifest& manifest,
                         const Snapshot& snapshot, RunControl& control,
                         steady_clock::time_point start) {
  const int64_t step = manifest.step;
  series.Remove(step);
  const auto folder = series.FolderOf(step);
  const auto done = WriteWhenThereIsRoom(folder, manifest, snapshot, control);
  const std::chrono::duration<double> seconds = steady_clock::now() - start;
  const checkpoint::Series::Freed freed = series.Prune(keep);
  for (const int64_t removed : freed.steps) {
    std::cerr << "removed the checkpoint of step " << removed << '\n';
  }
  if (!freed.steps.empty()) {
    std::cerr << "freed " << freed.bytes << " bytes of checkpoints\n";
  }
  return {.step = step,
          .folder = folder.string(),
          .bytes = done.bytes,
          .seconds = seconds.count()};
}

}  // namespace

CheckpointWriter::CheckpointWriter(checkpoint::Series series,
                                   checkpoint::Series::Kept keep,
                                   RunControl& control)
    : series_(std::move(series)), keep_(keep), control_(control) {}

void CheckpointWriter::Write(checkpoint::Manifest manifest, Snapshot snapshot) {
  const auto start = steady_clock::now();
  if (pending_.valid()) written_.push_back(pending_.get());
  pending_ = std::async(
      std::launch::async, [this, start, manifest = std::move(manifest),
                           snapshot = std::move(snapshot)] {
        return WriteOne(series_, keep_, manifest, snapshot, control_, start);
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
