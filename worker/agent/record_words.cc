#include "worker/agent/record_words.h"

namespace leadline::agent {

std::string InWords(const v1::TrainerRecord& record) {
  const auto at = [](int64_t step) { return " step " + std::to_string(step); };
  switch (record.record_case()) {
    case v1::TrainerRecord::kStart:
      return "its start";
    case v1::TrainerRecord::kStep:
      return "step " + std::to_string(record.step().step());
    case v1::TrainerRecord::kEvaluation:
      return "the evaluation at" + at(record.evaluation().step());
    case v1::TrainerRecord::kRouting:
      return "the routing at" + at(record.routing().step());
    case v1::TrainerRecord::kCheckpoint:
      return "the checkpoint at" + at(record.checkpoint().step());
    case v1::TrainerRecord::kReplicaEnd:
      return "the end of replica " +
             std::to_string(record.replica_end().replica());
    case v1::TrainerRecord::kResult:
      return "the result of replica " +
             std::to_string(record.result().replica());
    case v1::TrainerRecord::kEnd:
      return "its end";
    case v1::TrainerRecord::kUnreadable:
    case v1::TrainerRecord::RECORD_NOT_SET:
      break;
  }
  return "no event";
}

}  // namespace leadline::agent
