// The agent's end of its streams.

#include <utility>

#include "sim_coordinator.h"
#include "sim_node.h"
#include "worker/agent/attempt_message.h"

namespace leadline::simulation {
namespace {

constexpr double kRedialLeast_s = 0.1;
constexpr double kRedialMost_s = 5;
}  // namespace

void SimNode::Tick() {
  logic_->Tick(AgentNow());
  const SteadyTime due =
      around_.clockwork.now() + (logic_->NextWake(AgentNow()) - AgentNow());
  if (tick_at_ > around_.clockwork.now() && tick_at_ <= due) return;
  tick_at_ = due;
  life_.Later(due - around_.clockwork.now(), [this, due] {
    if (tick_at_ == due) Tick();
  });
}

void SimNode::Dial() {
  if (wire_) return;
  auto wire = std::make_shared<Wire>();
  wire->node = number_;
  wire->number = streams_ + 1;
  const bool reached = !around_.network.Has(Network::Trouble::kCut, number_) &&
                       coordinator_.Accept(wire);
  if (!reached) {
    logic_->Handle(
        {streams_,
         agent::StreamClosed{absl::UnavailableError("no coordinator")}},
        AgentNow());
    life_.Later(Seconds(around_.chance.Between(kRedialLeast_s, kRedialMost_s)),
                [this] { Dial(); });
    return;
  }
  ++streams_;
  wire_ = wire;
  logic_->Handle({wire->number, agent::StreamOpened{}}, AgentNow());
  Tick();
}

void SimNode::Arrive(const std::shared_ptr<Wire>& wire,
                     v1::CoordinatorMessage message) {
  life_.Do([this, wire, message = std::move(message)]() mutable {
    if (wire != wire_) return;
    if (message.has_start()) NoteOrder(message.start());
    Spoil(message);
    logic_->Handle({wire->number, std::move(message)}, AgentNow());
    Tick();
  });
}

void SimNode::NoteOrder(const v1::StartAttempt& order) {
  const auto key = agent::FromMessage(order.attempt());
  if (!key) return;
  first_ranks_[*key] = order.first_rank();
  work_[*key] = static_cast<CellWork>(order.settings().at("depth").integer());
}

void SimNode::WireBroken(const std::shared_ptr<Wire>& wire,
                         const absl::Status& status) {
  life_.Do([this, wire, status] {
    if (wire != wire_) return;
    wire_.reset();
    wire->agent_open = false;
    logic_->Handle({wire->number, agent::StreamClosed{status}}, AgentNow());
    life_.Later(Seconds(around_.chance.Between(kRedialLeast_s, kRedialMost_s)),
                [this] { Dial(); });
  });
}

void SimNode::Send(int64_t stream, v1::AgentMessage message) {
  if (!wire_ || wire_->number != stream || Spoil(message)) return;
  coordinator_.Carry(wire_, std::move(message));
}

/// Only what cannot be stored may be left out.
void SimNode::DemandPoison(const v1::AgentMessage& message) const {
  const auto key = agent::FromMessage(message.records().attempt());
  if (!key) return;
  for (const v1::TrainerRecord& record : message.records().records()) {
    const auto line = static_cast<size_t>(record.sequence() - 1);
    if (record.has_unreadable() &&
        disk_.at({*key, 0})->lines.at(line).find(std::to_string(kPoison)) ==
            std::string::npos) {
      throw Violation("record " + std::to_string(record.sequence()) +
                      " of attempt " + ToText(*key) +
                      " is left out, and could be stored");
    }
  }
}

/// True if the message is not sent.
bool SimNode::Spoil(const v1::AgentMessage& message) {
  DemandPoison(message);
  if (message.has_records()) {
    last_sent_[message.records().attempt().cohort()] =
        message.records().records().rbegin()->sequence();
  }
  if (!message.has_ended()) return false;
  const v1::Attempt& attempt = message.ended().attempt();
  if (around_.plant == Plant::kPartEndUntold) {
    const auto key = agent::FromMessage(attempt);
    return key && first_ranks_[*key] > 0;
  }
  if (around_.plant != Plant::kEndToldOnce) return false;
  return !told_ends_
              .insert(attempt.cohort() + "@" + std::to_string(attempt.number()))
              .second;
}

void SimNode::Spoil(v1::CoordinatorMessage& message) const {
  if (around_.plant == Plant::kUnacknowledgedSkipped &&
      message.has_registered()) {
    for (v1::RecordAck& ack :
         *message.mutable_registered()->mutable_acknowledged()) {
      const auto sent = last_sent_.find(ack.attempt().cohort());
      if (sent != last_sent_.end()) ack.set_sequence(sent->second);
    }
  }
}

void SimNode::Break(int64_t stream) {
  if (!wire_ || wire_->number != stream) return;
  const std::shared_ptr<Wire> wire = wire_;
  wire->agent_open = false;
  coordinator_.HearEndOf(wire);
  life_.Later(Seconds(around_.chance.Between(0.001, 0.1)), [this, wire] {
    WireBroken(wire, absl::CancelledError("broken off"));
  });
}

}  // namespace leadline::simulation
