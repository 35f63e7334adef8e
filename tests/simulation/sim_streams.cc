// The coordinator's end of its agents' streams.

#include <algorithm>
#include <utility>

#include "coordinator/rpc/convert.h"
#include "sim_coordinator.h"

namespace leadline::simulation {
namespace {

bool HoldsPoison(const v1::AgentMessage& message) {
  return std::ranges::any_of(message.records().records(),
                             [](const v1::TrainerRecord& record) {
                               return record.step().learning_rate() == kPoison;
                             });
}

}  // namespace

bool SimCoordinator::Accept(const std::shared_ptr<Wire>& wire) {
  if (!cycle_) return false;
  wire->session = ++sessions_begun_;
  sessions_[wire->session] = Session{wire, {}, true, false, {}};
  return true;
}

void SimCoordinator::Carry(const std::shared_ptr<Wire>& wire,
                           v1::AgentMessage message) {
  if (wire->cut) return;
  around_.network.Carry(*wire, Network::Way::kToServer, [this, wire, message] {
    life_.Do([this, wire, message] {
      const auto found = sessions_.find(wire->session);
      if (found == sessions_.end() || found->second.wire != wire) return;
      found->second.unread.push_back(message);
      Read(wire->session);
    });
  });
}

void SimCoordinator::Read(int64_t id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  Session& session = found->second;
  if (!session.reading || session.unread.empty()) return;
  v1::AgentMessage message = std::move(session.unread.front());
  session.unread.pop_front();
  if (around_.plant == Plant::kFenceOff) TakeForLive(message);
  auto command = Convert(id, message);
  if (!command.ok()) return Close(id, command.status());
  session.reading = false;
  Post(
      *std::move(command),
      [this, id, is_poison = HoldsPoison(message), at = around_.clockwork.now(),
       beats = message.heartbeat().attempts()](const auto& answer) {
        if (!answer.ok()) return RefuseMessage(id, answer.status(), is_poison);
        const auto again = sessions_.find(id);
        if (again == sessions_.end()) return;  // nor did it renew anything
        for (const v1::Attempt& attempt : beats) {
          const auto key = rpc::FromProto(attempt);
          if (key.ok()) around_.oracle.OnRenewed(*key, again->second.node, at);
        }
        again->second.reading = true;
        Read(id);
      });
}

/// What an agent hears it takes for a fault of what it sent.
void SimCoordinator::RefuseMessage(int64_t id, const absl::Status& status,
                                   bool is_poison) {
  if (absl::IsInternal(status) && !is_poison) {
    throw Violation("an agent is blamed for what another has sent");
  }
  Close(id, status);
}

void SimCoordinator::TakeForLive(v1::AgentMessage& message) const {
  if (!message.has_records()) return;
  v1::Attempt& attempt = *message.mutable_records()->mutable_attempt();
  const auto key = rpc::FromProto(attempt);
  if (!key.ok()) return;
  for (const CohortId& cohort : cycle_->control().state().live) {
    if (cohort != key->cohort) continue;
    attempt.set_number(std::max(attempt.number(), LiveNumber(cohort)));
  }
}

int64_t SimCoordinator::LiveNumber(const CohortId& cohort) const {
  const control::Sweep& sweep =
      cycle_->control().state().sweeps.at(cohort.cell.sweep);
  const auto& cell =
      sweep.cells.at(static_cast<size_t>(cohort.cell.number - 1));
  return cell.cohorts.at(static_cast<size_t>(cohort.number))
      .live->record.key.number;
}

absl::StatusOr<control::Command> SimCoordinator::Convert(
    int64_t id, const v1::AgentMessage& message) {
  Session& session = sessions_.at(id);
  const bool is_register =
      message.message_case() == v1::AgentMessage::kRegister;
  if (is_register == session.registered) {
    return absl::InvalidArgumentError("Register is the first message");
  }
  const control::SessionId from{id};
  switch (message.message_case()) {
    case v1::AgentMessage::kRegister:
      session.registered = true;
      return rpc::FromProto(from, message.register_());
    case v1::AgentMessage::kHeartbeat:
      return rpc::FromProto(from, message.heartbeat());
    case v1::AgentMessage::kRecords:
      return rpc::FromProto(from, message.records());
    case v1::AgentMessage::kEnded:
      return rpc::FromProto(from, message.ended());
    case v1::AgentMessage::kStarted:
      return rpc::FromProto(from, message.started());
    case v1::AgentMessage::kWaiting:
      return rpc::FromProto(from, message.waiting());
    case v1::AgentMessage::kRefused:
      return rpc::FromProto(from, message.refused());
    default:
      return absl::InvalidArgumentError("a message without content");
  }
}

void SimCoordinator::Deliver(const control::AgentOrder& order) {
  const auto found = sessions_.find(order.session.value);
  if (found == sessions_.end()) return;
  if (const auto* close = std::get_if<control::CloseOrder>(&order.order)) {
    return Close(order.session.value, close->status);
  }
  if (const auto* ack = std::get_if<control::AckOrder>(&order.order)) {
    around_.oracle.OnAcknowledged(ack->attempt, ack->sequence);
  }
  if (const auto* ack = std::get_if<control::EndedAckOrder>(&order.order)) {
    around_.oracle.OnEndAcknowledged(ack->attempt);
  }
  if (const auto* welcome = std::get_if<control::WelcomeOrder>(&order.order)) {
    found->second.node = welcome->node;
    around_.oracle.OnRegistered(welcome->node);
  }
  const std::shared_ptr<Wire> wire = found->second.wire;
  if (wire->cut) return;
  v1::CoordinatorMessage said = rpc::ToProto(order.order);
  if (said.start().world_size() > 1) {
    said.mutable_start()->set_secret(std::string(64, 'a'));
  }
  around_.network.Carry(*wire, Network::Way::kToAgent,
                        [this, wire, message = std::move(said)] {
                          nodes_[wire->node]->Arrive(wire, message);
                        });
}

void SimCoordinator::CloseAllSessions(const absl::Status& status) {
  std::vector<int64_t> ids;
  for (const auto& [id, session] : sessions_) ids.push_back(id);
  for (const int64_t id : ids) Close(id, status);
}

void SimCoordinator::Close(int64_t id, const absl::Status& status) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  const std::shared_ptr<Wire> wire = found->second.wire;
  if (!wire->cut) {
    around_.network.Carry(*wire, Network::Way::kToAgent, [this, wire, status] {
      nodes_[wire->node]->WireBroken(wire, status);
    });
  }
  End(id);
}

void SimCoordinator::End(int64_t id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  NoteGone(found->second);
  sessions_.erase(found);
  Post(control::NodeLost{{id}}, [](const auto&) {});
}

void SimCoordinator::NoteGone(const Session& session) const {
  if (!session.node.empty()) around_.oracle.OnUnregistered(session.node);
}

void SimCoordinator::HearEndOf(const std::shared_ptr<Wire>& wire) {
  if (wire->cut) return;
  around_.network.Carry(*wire, Network::Way::kToServer, [this, wire] {
    life_.Do([this, wire] { End(wire->session); });
  });
}

void SimCoordinator::CutWiresOf(int64_t node) {
  for (auto& [id, session] : sessions_) {
    if (session.wire->node != node) continue;
    const std::shared_ptr<Wire> wire = session.wire;
    wire->cut = true;
    // Either end may learn of it soon, or only by the other's silence.
    if (around_.chance.Happens(0.5)) {
      around_.clockwork.After(
          Seconds(around_.chance.Between(0.1, 10)), [this, wire] {
            nodes_[wire->node]->WireBroken(
                wire, absl::UnavailableError("connection reset"));
          });
    }
    if (around_.chance.Happens(0.5)) {
      life_.Later(Seconds(around_.chance.Between(0.1, 10)),
                  [this, id = id] { End(id); });
    }
  }
}

}  // namespace leadline::simulation
