// What an agent keeps of sweeps is theirs: it asks which were removed, lets go
// of what it is told, and says how much it keeps.

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

void AgentLogic::OnWeigh(const v1::WeighSweeps& order) {
  std::vector<SweepId> sweeps;
  for (const std::string& text : order.sweeps()) {
    if (const auto sweep = ParseSweepId(text)) sweeps.push_back(*sweep);
  }
  host_.WeighFiles({stream_, order.request()}, std::move(sweeps));
}

void AgentLogic::Handle(const FilesWeighed& weighed) {
  // A coordinator that came after the one that asked has other numbers.
  if (weighed.tag.stream != stream_) return;
  v1::AgentMessage message;
  v1::WeighedSweeps& reply = *message.mutable_weighed();
  reply.set_request(weighed.tag.request);
  reply.set_attempts(weighed.size.attempts);
  reply.set_checkpoints(weighed.size.checkpoints);
  reply.set_bytes(weighed.size.bytes);
  reply.set_at_least(weighed.size.at_least);
  Send(std::move(message));
}

}  // namespace leadline::agent
