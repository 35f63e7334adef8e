#include "worker/trainer/checkpoint_schedule.h"

#include <string>
#include <variant>

namespace leadline::trainer {

CheckpointSchedule::CheckpointSchedule(const spec::Settings& settings, Time now)
    : steps_(settings.Integer("steps")), last_(now) {
  const spec::Value& value = settings.values().at("checkpoint_every");
  if (const auto* every = std::get_if<int64_t>(&value)) {
    mode_ = Mode::kSteps;
    every_ = *every;
  } else if (value == spec::Value("end")) {
    mode_ = Mode::kEnd;
  } else if (value == spec::Value("auto")) {
    mode_ = Mode::kAuto;
  }
}

bool CheckpointSchedule::IsDue(int64_t steps_done, Time now) const {
  const bool is_last = steps_done == steps_;
  switch (mode_) {
    case Mode::kOff:
      return false;
    case Mode::kEnd:
      return is_last;
    case Mode::kSteps:
      return is_last || steps_done % every_ == 0;
    case Mode::kAuto:
      break;
  }
  return now - last_ >= kAutoInterval;
}

}  // namespace leadline::trainer
