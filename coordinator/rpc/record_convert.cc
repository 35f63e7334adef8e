#include "coordinator/rpc/record_convert.h"

#include <string>
#include <utility>

#include <absl/status/status.h>

namespace leadline::rpc {
namespace {

using control::TrainerOther;

using Body = decltype(control::TrainerRecord::body);

/// More replicas than a cohort can have.
constexpr int kMostReplicas = 64;

template <typename Repeated>
auto ToVector(const Repeated& values) {
  return std::vector<typename Repeated::value_type>(values.begin(),
                                                    values.end());
}

Body FromProto(const v1::StartRecord& start) {
  control::TrainerStart value;
  value.version = start.version();
  value.commit = start.commit();
  value.device = start.device();
  value.numerics = start.numerics();
  value.libraries = start.libraries();
  value.threads = start.threads();
  value.parameters = start.parameters();
  return value;
}

Body FromProto(const v1::StepRecord& step) {
  if (step.step() < 0 || step.train_loss_size() > kMostReplicas ||
      step.gradient_norm_size() > kMostReplicas ||
      step.clip_factor_size() > kMostReplicas) {
    return TrainerOther{"step record out of range"};
  }
  control::TrainerStep value;
  value.step = step.step();
  value.train_loss = ToVector(step.train_loss());
  value.gradient_norm = ToVector(step.gradient_norm());
  value.clip_factor = ToVector(step.clip_factor());
  value.learning_rate = step.learning_rate();
  value.tokens_per_second = step.tokens_per_second();
  value.tokens = step.tokens();
  return value;
}

Body FromProto(const v1::EvaluationRecord& evaluation) {
  const std::string& split = evaluation.split();
  const bool is_full = evaluation.kind() == "full";
  if (evaluation.step() < 0 || evaluation.loss_size() > kMostReplicas ||
      evaluation.windows_size() > kMostReplicas ||
      (split != "train" && split != "validation" && split != "test") ||
      (!is_full && evaluation.kind() != "fixed")) {
    return TrainerOther{"evaluation record out of range"};
  }
  control::TrainerEvaluation value;
  value.step = evaluation.step();
  value.split = split;
  value.full = is_full;
  value.loss = ToVector(evaluation.loss());
  for (const v1::NamedVector& windows : evaluation.windows()) {
    value.windows.push_back(ToVector(windows.values()));
  }
  return value;
}

Body FromProto(const v1::RoutingRecord& routing) {
  control::TrainerRouting value;
  value.replica = routing.replica();
  value.routing.step = routing.step();
  for (const v1::RouterRow& row : routing.map()) {
    if (row.sources_size() != row.weights_size()) {
      return TrainerOther{"routing record with " +
                          std::to_string(row.sources_size()) + " sources and " +
                          std::to_string(row.weights_size()) + " weights"};
    }
    value.routing.map.push_back(
        {ToVector(row.sources()), ToVector(row.weights())});
  }
  for (const v1::NamedVector& statistic : routing.statistics()) {
    value.routing.statistics[statistic.name()] = ToVector(statistic.values());
  }
  if (routing.step() < 0) return TrainerOther{"routing record out of range"};
  return value;
}

Body FromProto(const v1::CheckpointRecord& checkpoint) {
  return control::TrainerCheckpoint{checkpoint.step()};
}

Body FromProto(const v1::ReplicaEndRecord& end) {
  return control::TrainerReplicaEnd{end.replica(), end.seed(),
                                    end.state() == "diverged", end.step(),
                                    end.reason()};
}

Body FromProto(const v1::ResultRecord& record) {
  control::TrainerResult value;
  value.replica = record.replica();
  value.seed = record.seed();
  const v1::TrialResult& result = record.result();
  value.result.validation_loss = result.validation_loss();
  if (result.has_test_loss()) value.result.test_loss = result.test_loss();
  if (result.has_best_validation_loss()) {
    value.result.best_validation_loss = result.best_validation_loss();
  }
  if (result.has_best_step()) value.result.best_step = result.best_step();
  if (!result.unit().empty()) value.result.unit = result.unit();
  value.result.steps = result.steps();
  value.result.tokens = result.tokens();
  value.result.seconds = result.seconds();
  value.result.peak_bytes = result.peak_bytes();
  value.result.parameters = result.parameters();
  value.result.determinism =
      ParseDeterminism(result.determinism()).value_or(Determinism::kUnknown);
  return value;
}

Body FromProto(const v1::EndRecord& end) {
  control::TrainerEnd value;
  value.failed = end.outcome() != "succeeded";
  value.kind = ParseFailureKind(end.kind());
  value.message = end.message();
  return value;
}

Body FromProto(const v1::UnreadableRecord& unreadable) {
  return TrainerOther{unreadable.message()};
}

Body BodyOf(const v1::TrainerRecord& record) {
  switch (record.record_case()) {
    case v1::TrainerRecord::kStart:
      return FromProto(record.start());
    case v1::TrainerRecord::kStep:
      return FromProto(record.step());
    case v1::TrainerRecord::kEvaluation:
      return FromProto(record.evaluation());
    case v1::TrainerRecord::kRouting:
      return FromProto(record.routing());
    case v1::TrainerRecord::kCheckpoint:
      return FromProto(record.checkpoint());
    case v1::TrainerRecord::kReplicaEnd:
      return FromProto(record.replica_end());
    case v1::TrainerRecord::kResult:
      return FromProto(record.result());
    case v1::TrainerRecord::kEnd:
      return FromProto(record.end());
    case v1::TrainerRecord::kUnreadable:
      return FromProto(record.unreadable());
    case v1::TrainerRecord::RECORD_NOT_SET:
      break;
  }
  return TrainerOther{"a record this coordinator does not know"};
}

}  // namespace

absl::StatusOr<control::TrainerRecord> FromProto(
    const v1::TrainerRecord& record) {
  if (record.sequence() < 1) {
    return absl::InvalidArgumentError("record with sequence " +
                                      std::to_string(record.sequence()) +
                                      "; they count from 1");
  }
  return control::TrainerRecord{record.sequence(), BodyOf(record)};
}

}  // namespace leadline::rpc
