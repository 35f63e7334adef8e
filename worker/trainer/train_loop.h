// Trains one cohort from its first step to its results.

#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "model/decoder.h"
#include "model/spec/identity.h"
#include "worker/collective/communicator.h"
#include "worker/dataset/symbol_text.h"
#include "worker/trainer/adam_w.h"
#include "worker/trainer/agreement.h"
#include "worker/trainer/batches.h"
#include "worker/trainer/checkpoint_schedule.h"
#include "worker/trainer/checkpoint_writer.h"
#include "worker/trainer/documents.h"
#include "worker/trainer/evaluation.h"
#include "worker/trainer/event_writer.h"
#include "worker/trainer/gradient.h"
#include "worker/trainer/interval_means.h"
#include "worker/trainer/progress.h"
#include "worker/trainer/replica_health.h"
#include "worker/trainer/run_control.h"
#include "worker/trainer/schedule.h"

namespace leadline::trainer {

/// One of the ranks of an attempt. All compute the same figures; rank 0 writes
/// the events and keeps the checkpoints. Borrows everything it is given. Owned
/// by one thread.
class TrainLoop {
 public:
  TrainLoop(const spec::TrainerConfig& config, const dataset::SymbolText& text,
            collective::Communicator& communicator, RunControl& control,
            EventWriter& events);

  /// Writes every event but the last, `end`. Throws Stopped, and whatever went
  /// wrong. Returns once each replica has its result or has ended without one.
  void Run();

 private:
  struct Best {
    double loss = std::numeric_limits<double>::quiet_NaN();
    int64_t step = 0;
  };

  /// From a checkpoint, where the configuration names one.
  void TakeOverWeights();
  void GoOnFrom(const std::string& folder);
  checkpoint::Series SeriesIn(const std::filesystem::path& folder) const;
  void GoOnFromNewest(const checkpoint::Series& series);
  void Restore(const checkpoint::Checkpoint& from);
  /// How far the training is that the manifest tells of.
  void TakeOverProgress(const checkpoint::Manifest& manifest);
  /// What rank 0 has taken over, to all.
  void ShareWithRanks();
  void ShareTensors(bool with_moments);
  void StartFrom(const std::string& hash, const std::string& folder);
  void Train();
  /// Copies what there is now; it is on disk once it has been reported.
  void BeginCheckpoint();
  bool IsFirstRank() const { return communicator_.rank() == 0; }
  bool CheckpointIsDue();
  /// Begins one if it is time, and tells of those that are on disk.
  void KeepCheckpoint();
  void ReportCheckpoints();
  /// What training goes on from where it was stopped.
  void KeepWhatIsDone();
  /// Waits for the last one, and lets go of those that nobody asked for.
  void FinishCheckpoints();
  void WriteStart();
  void TakeStep(int64_t step);
  void ReportInterval();
  void ReportEnds();
  void EvaluateWindows();
  /// Read by all replicas together in an evaluation that began at `start`.
  double TokensPerSecond(const std::vector<Window>& windows,
                         double start) const;
  void WriteFigures(const EvaluationEvent& evaluation,
                    const torch::Tensor& losses_RP);
  std::vector<double> EvaluateSplit(const char* name,
                                    std::span<const uint16_t> symbols,
                                    std::vector<int64_t> story_ends);
  /// Computes a step again, once training is over.
  Determinism CheckSameNumbers();
  void WriteResults();
  /// Replaces what a replica that has ended yields.
  void Silence(std::vector<double>& values_R) const;

  const spec::TrainerConfig& config_;
  const spec::Settings& settings_;
  const dataset::SymbolText& text_;
  collective::Communicator& communicator_;
  EventWriter& events_;
  torch::Device device_;
  model::Decoder decoder_;
  std::optional<Documents> documents_;  // of training, if they are respected
  Batches batches_;
  Gradient gradient_;
  AdamW optimizer_;
  Schedule schedule_;
  ReplicaHealth health_;
  Agreement agreement_;
  IntervalMeans means_;
  std::vector<Window> fixed_windows_;
  std::vector<Window> probe_windows_;
  std::vector<Best> best_;
  Progress progress_;
  int64_t parameters_ = 0;  // of one replica
  double interval_seconds_ = 0;
  int64_t steps_done_ = 0;
  int64_t steps_kept_ = 0;       // in the newest checkpoint
  bool evaluation_due_ = false;  // of the steps done, and not yet told
  std::optional<checkpoint::Manifest> restored_;  // by rank 0
  bool has_weights_ = false;  // of a checkpoint that it starts from, likewise
  CheckpointSchedule checkpoint_schedule_;
  std::optional<CheckpointWriter> checkpoint_writer_;  // where there are any
};

/// Type and place of a training's parameters.
torch::TensorOptions ParameterOptions(const spec::Settings& settings,
                                      const torch::Device& device);

/// "solo-fp32", "fused-bf16", ...
std::string NumericsClass(const spec::Settings& settings, size_t replicas);

}  // namespace leadline::trainer
