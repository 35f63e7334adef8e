#include "coordinator/control/trainer_record.h"

#include <charconv>
#include <iterator>
#include <string_view>

namespace leadline::control {
namespace {

/// Reads back bit for bit; "nan", "inf" and "-inf" as they are.
std::string ToText(double value) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, value);
  return {text, end.ptr};
}

std::string ToText(const std::vector<double>& values) {
  std::string text = "[";
  for (const double value : values) {
    if (text.size() > 1) text += ",";
    text += ToText(value);
  }
  return text + "]";
}

std::string At(std::string_view event, int64_t step) {
  return std::string(event) + " step=" + std::to_string(step);
}

std::string Of(std::string_view event, int64_t replica, int64_t seed) {
  return std::string(event) + " replica=" + std::to_string(replica) +
         " seed=" + std::to_string(seed);
}

struct Teller {
  std::string operator()(const TrainerOther& other) const {
    return "other " + other.message;
  }
  std::string operator()(const TrainerStart& start) const {
    return "start version=" + start.version + " commit=" + start.commit +
           " device=" + start.device + " numerics=" + start.numerics;
  }
  std::string operator()(const TrainerStep& step) const {
    return At("step", step.step) + " train_loss=" + ToText(step.train_loss) +
           " gradient_norm=" + ToText(step.gradient_norm);
  }
  std::string operator()(const TrainerEvaluation& evaluation) const {
    return At("evaluation", evaluation.step) + " split=" + evaluation.split +
           " kind=" + (evaluation.full ? "full" : "fixed") +
           " loss=" + ToText(evaluation.loss);
  }
  std::string operator()(const TrainerRouting& routing) const {
    std::string text = At("routing", routing.routing.step) +
                       " replica=" + std::to_string(routing.replica);
    for (const auto& [name, values] : routing.routing.statistics) {
      text += " " + name + "=" + ToText(values);
    }
    text += " map=[";
    for (const storage::RouterRow& row : routing.routing.map) {
      text += ToText(row.weights);
    }
    return text + "]";
  }
  std::string operator()(const TrainerCheckpoint& checkpoint) const {
    return At("checkpoint", checkpoint.step);
  }
  std::string operator()(const TrainerReplicaEnd& end) const {
    return Of("replica_end", end.replica, end.seed) +
           " diverged=" + (end.diverged ? "yes" : "no") +
           " step=" + std::to_string(end.step) + " reason=" + end.reason;
  }
  std::string operator()(const TrainerResult& result) const {
    std::string text =
        Of("result", result.replica, result.seed) +
        " validation_loss=" + ToText(result.result.validation_loss);
    if (result.result.test_loss) {
      text += " test_loss=" + ToText(*result.result.test_loss);
    }
    return text + " steps=" + std::to_string(result.result.steps);
  }
  std::string operator()(const TrainerEnd& end) const {
    std::string text = "end";
    if (end.kind) text += " kind=" + std::string(Name(*end.kind));
    return text + " message=" + end.message;
  }
};

}  // namespace

int64_t CountPoints(const TrainerRecord& record) {
  if (const auto* step = std::get_if<TrainerStep>(&record.body)) {
    const int64_t losses = std::ssize(step->train_loss);
    return std::ssize(step->gradient_norm) + std::ssize(step->clip_factor) +
           2 * losses;  // and a learning rate for each
  }
  const auto* evaluation = std::get_if<TrainerEvaluation>(&record.body);
  return evaluation ? std::ssize(evaluation->loss) : 0;
}

std::string ToText(const TrainerRecord& record) {
  return std::visit(Teller{}, record.body);
}

}  // namespace leadline::control
