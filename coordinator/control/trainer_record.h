// What a trainer's event file says, line by line, as values. Vectors hold one
// value a replica; numbers may be non-finite.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "storage/records.h"

namespace leadline::control {

struct TrainerStart {
  std::string version;
  std::string commit;
  std::string device;
  std::string numerics;
  std::string libraries;
  int64_t threads = 0;
  int64_t parameters = 0;
};

struct TrainerStep {
  int64_t step = 0;
  std::vector<double> train_loss;
  std::vector<double> gradient_norm;
  std::vector<double> clip_factor;
  double learning_rate = 0;
  double tokens_per_second = 0;
  int64_t tokens = 0;  // by one replica, since its step 0
};

struct TrainerEvaluation {
  int64_t step = 0;
  std::string split;
  bool full = false;
  std::vector<double> loss;
  std::vector<std::vector<double>> windows;  // empty for full ones
};

struct TrainerRouting {
  int64_t replica = 0;
  storage::RoutingRecord routing;  // its trial is not known yet
};

struct TrainerCheckpoint {
  int64_t step = 0;
};

struct TrainerReplicaEnd {
  int64_t replica = 0;
  int64_t seed = 0;
  bool diverged = false;
  int64_t step = 0;
  std::string reason;
};

struct TrainerResult {
  int64_t replica = 0;
  int64_t seed = 0;
  storage::ResultRecord result;  // its trial and attempt are not known yet
};

struct TrainerEnd {
  bool failed = false;
  std::optional<FailureKind> kind;
  std::string message;
};

/// A line that is no event, or one of no use here.
struct TrainerOther {
  std::string message;
};

struct TrainerRecord {
  int64_t sequence = 0;  // line number, from 1
  std::variant<TrainerOther, TrainerStart, TrainerStep, TrainerEvaluation,
               TrainerRouting, TrainerCheckpoint, TrainerReplicaEnd,
               TrainerResult, TrainerEnd>
      body;
};

/// How many points of curves it makes.
int64_t CountPoints(const TrainerRecord& record);

/// One line for people: what is kept of a superseded attempt.
std::string ToText(const TrainerRecord& record);

}  // namespace leadline::control
