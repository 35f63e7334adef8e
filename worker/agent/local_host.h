// Attempts on this machine: a folder each, a process group each.

#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "worker/agent/attempt_folder.h"
#include "worker/agent/attempt_host.h"
#include "worker/agent/file_keeper.h"
#include "worker/agent/gpu_watch.h"
#include "worker/agent/orphans.h"
#include "worker/agent/spool.h"

namespace leadline::agent {

/// Must outlive the trainers it gives out.
class LocalHost final : public AttemptHost {
 public:
  struct Options {
    std::filesystem::path state;    // absolute
    std::filesystem::path trainer;  // the program
    std::string boot_id;
    bool receives_orphans = false;  // see ReceiveOrphans
    SpoolPolicy spool = {};
    /// Of checkpoints, one folder a cohort, absolute; agents may share it.
    std::filesystem::path checkpoints = {};
    /// The library that is asked what others use of GPUs; empty: nobody is.
    std::string nvml = {};
    /// Called from a thread of this.
    FileKeeper::Sinks on_files = {[](SweepId, const RemovedFiles&) {},
                                  [](const FilesWeighed&) {}};
  };

  explicit LocalHost(Options options);

  std::string Folder(const AttemptKey& attempt) const override;
  std::optional<std::string> ResumeFrom(
      const AttemptKey& attempt) const override;
  std::optional<std::string> WhyNotOn(
      const std::vector<std::string>& devices, int64_t bytes,
      std::chrono::steady_clock::time_point since) override;
  absl::StatusOr<std::vector<std::unique_ptr<Trainer>>> Start(
      const AttemptKey& attempt, const TrainerOrder& order) override;
  std::unique_ptr<EventLines> Events(const AttemptKey& attempt,
                                     int64_t rank) override;
  std::vector<FoundAttempt> FindHeld() override;
  void MarkInterrupted(const AttemptKey& attempt) override;
  void Release(const AttemptKey& attempt) override;
  std::vector<SweepId> KeptSweeps() const override;
  void RemoveFiles(SweepId sweep) override { keeper_.Remove(sweep); }
  void WeighFiles(WeighingTag tag, std::vector<SweepId> sweeps) override {
    keeper_.Weigh(tag, std::move(sweeps));
  }

 private:
  std::optional<FoundAttempt> Find(const AttemptKey& key);
  absl::StatusOr<std::unique_ptr<Trainer>> StartRank(const AttemptKey& attempt,
                                                     const TrainerOrder& order,
                                                     const RankOrder& rank);
  std::unique_ptr<Trainer> Adopt(const std::filesystem::path& folder,
                                 const std::optional<ProcessRecord>& process,
                                 bool machine_restarted);
  /// For what the attempt will write.
  absl::Status CheckRoom(const TrainerOrder& order) const;
  /// Now and then, since it looks at every folder.
  void RemoveOldSpools();

  const Options options_;
  std::optional<std::chrono::steady_clock::time_point> removed_at_;
  Orphans orphans_;
  FileKeeper keeper_;
  GpuWatch gpus_;
};

}  // namespace leadline::agent
