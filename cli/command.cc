#include "cli/command.h"

#include "cli/local_coordinator.h"
#include "cli/version.h"

namespace leadline::cli {

absl::StatusOr<std::unique_ptr<Connection>> Context::Connect(
    bool wants_work, int64_t slots) const {
  const auto chosen = ChoosePlace(place, ReadPlaceVariables());
  if (!chosen.ok()) return chosen.status();
  v1::AttachRequest request;
  request.set_wants_work(wants_work);
  request.set_client("leadline " + command);
  request.set_slots(slots);
  request.set_version(std::string(kVersion));
  if (chosen->is_local()) {
    return JoinLocalCoordinator(chosen->state,
                                ProgramBeside("leadline-coordinator"), request);
  }
  return Connection::Open(chosen->coordinator, request);
}

}  // namespace leadline::cli
