// What a trainer reports. Fields stand in the order in which they are written;
// docs/interfaces names them too.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/determinism.h"
#include "common/experiment.h"

namespace leadline::trainer {

struct StartEvent {
  std::string version{};  // of the program
  std::string commit{};
  std::string settings_hash{};  // of the cell
  std::string data_hash{};
  std::vector<int64_t> seeds{};
  std::string device{};
  int64_t threads = 1;
  std::string numerics{};       // "solo-fp32"
  int64_t parameters = 0;       // of one replica
  int64_t tokens_per_step = 0;  // of one replica
  std::vector<std::pair<std::string, std::string>> libraries{};
  /// Of the text, by name; each value is a whole JSON value.
  std::vector<std::pair<std::string, std::string>> data{};
};

/// Means over the steps since the last one.
struct StepEvent {
  int64_t step = 0;    // steps done
  int64_t tokens = 0;  // of one replica, since the start
  std::vector<double> train_loss{}, gradient_norm{}, clip_factor{};  // [R]
  double learning_rate = 0;  // of this step
  double step_seconds = 0;
  double tokens_per_second = 0;  // of all replicas together
};

struct EvaluationEvent {
  int64_t step = 0;
  std::string split{};                         // validation, test
  bool fixed = false;                          // else full
  std::vector<double> loss{};                  // [R]
  std::vector<std::vector<double>> windows{};  // [R][P] of fixed ones
  double tokens_per_second = 0;                // of all replicas together
  int64_t peak_bytes = 0;                      // of the device so far
};

/// One replica's statistics; each value is a whole JSON value.
struct RoutingEvent {
  int64_t step = 0;
  std::vector<std::pair<std::string, std::string>> values{};
  int64_t replica = 0;
};

struct CheckpointEvent {
  int64_t step = 0;  // steps done
  std::string folder{};
  int64_t bytes = 0;  // of all its files
  double seconds = 0;
};

enum class ReplicaState { kSucceeded, kDiverged, kDropped };

struct ReplicaEndEvent {
  int64_t replica = 0;
  int64_t seed = 0;
  ReplicaState state = ReplicaState::kSucceeded;
  int64_t step = 0;
  std::string reason{};
};

struct ResultEvent {
  int64_t replica = 0;
  int64_t seed = 0;
  double validation_loss = 0;
  std::optional<double> test_loss{};  // null where there is no test split
  double best_validation_loss = 0;    // of the fixed evaluations
  int64_t best_step = 0;
  std::string unit{};
  int64_t steps = 0;
  int64_t tokens = 0;
  double seconds = 0;
  int64_t peak_bytes = 0;
  int64_t parameters = 0;
  Determinism determinism = Determinism::kUnknown;
};

struct EndEvent {
  AttemptOutcome outcome = AttemptOutcome::kSucceeded;
  std::optional<FailureKind> kind{};
  std::string message{};
};

}  // namespace leadline::trainer
