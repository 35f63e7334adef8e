// What an agent keeps of sweeps is theirs: it asks which were removed, and lets
// go of what it is told.

#include <algorithm>
#include <utility>

#include "proto/protocol_version.h"
#include "worker/agent/agent_logic.h"

namespace leadline::agent {
namespace {

constexpr std::chrono::minutes kBetweenQuestions{10};
constexpr size_t kMostAtOnce = 1000;

}  // namespace

void AgentLogic::AskForRemoved(SteadyTime now) {
  next_question_ = now + kBetweenQuestions;
  // An older one ends the stream of who says what it does not know.
  if (coordinator_protocol_ < kProtocolOfRemovals) return;
  const std::vector<SweepId> kept = host_.KeptSweeps();
  for (size_t i = 0; i < kept.size(); i += kMostAtOnce) {
    v1::AgentMessage message;
    for (size_t k = i; k < std::min(kept.size(), i + kMostAtOnce); ++k) {
      message.mutable_kept()->add_sweeps(ToText(kept[k]));
    }
    Send(std::move(message));
  }
}

void AgentLogic::OnRemoved(const v1::RemovedSweeps& removed) {
  for (const std::string& text : removed.sweeps()) {
    if (const auto sweep = ParseSweepId(text)) host_.RemoveFiles(*sweep);
  }
}

}  // namespace leadline::agent
