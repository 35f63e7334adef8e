#include "worker/agent/stop_schedule.h"

namespace leadline::agent {

StopStep StepDue(std::chrono::milliseconds elapsed,
                 const StopPatience& patience) {
  if (elapsed < patience.after_order) return StopStep::kOrder;
  if (elapsed < patience.after_order + patience.after_terminate) {
    return StopStep::kTerminate;
  }
  return StopStep::kKill;
}

}  // namespace leadline::agent
