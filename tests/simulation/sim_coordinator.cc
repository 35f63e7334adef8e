#include "sim_coordinator.h"

#include <utility>

#include "coordinator/rpc/convert.h"

namespace leadline::simulation {
namespace {

constexpr double kRestartsWithin_s = 15;

control::NewSweep MakeSweep(const SweepPlan& plan, int64_t number) {
  control::NewSweep sweep;
  sweep.sweep.name = "sweep " + std::to_string(number);
  sweep.sweep.canonical_hash = "hash" + std::to_string(number);
  if (plan.parallel_limit > 0) {
    sweep.sweep.parallel_limit = plan.parallel_limit;
  }
  if (plan.failure_limit > 0) sweep.sweep.failure_limit = plan.failure_limit;
  if (plan.failure_row_limit > 0) {
    sweep.sweep.failure_row_limit = plan.failure_row_limit;
  }
  if (plan.finishes) sweep.sweep.on_failures = OnFailures::kFinish;
  for (int64_t seed = 0; seed < plan.seeds; ++seed) sweep.seeds.push_back(seed);
  for (const CellWork work : plan.cells) {
    control::NewCell cell;
    cell.record.hash = sweep.sweep.canonical_hash + "/" +
                       std::to_string(std::ssize(sweep.cells));
    cell.record.depth = static_cast<int64_t>(work);
    cell.record.settings_json = R"({"depth":)" +
                                std::to_string(cell.record.depth) +
                                R"(,"devices":1,"threads":1})";
    cell.record.axes_json = "{}";
    cell.record.dataset_label = "iid27";
    cell.record.method_label = "prenorm";
    cell.record.dataset = {"iid27", "", "d", "char", {0.9, 0.05, 0.05}, 27};
    cell.record.steps = 10;
    for (int64_t left = plan.seeds; left > 0; left -= plan.cohort_size) {
      cell.cohort_sizes.push_back(std::min(left, plan.cohort_size));
    }
    sweep.cells.push_back(std::move(cell));
  }
  return sweep;
}

}  // namespace

SimCoordinator::SimCoordinator(Surroundings around, SimStore& store)
    : around_(around), store_(store) {}

control::Moment SimCoordinator::Now() const {
  const auto since = around_.clockwork.now() - Clockwork::kBegin + wall_offset_;
  const bool wall_in_leases = around_.plant == Plant::kWallClockInLeases;
  return {around_.clockwork.now() +
              (wall_in_leases ? wall_offset_ : Duration::zero()),
          storage::WallTime(
              std::chrono::duration_cast<std::chrono::microseconds>(since))};
}

void SimCoordinator::StartProcess() {
  if (store_.is_full) {  // it cannot even begin; whoever keeps it tries again
    around_.clockwork.After(Seconds(3), [this] { StartProcess(); });
    return;
  }
  ++life_;
  around_.oracle.OnLoaded(store_.disk());
  control::CommitCycleOptions options;
  options.now = [this] { return Now(); };
  if (around_.plant == Plant::kGraceIgnored) {
    options.policy.grace = control::Seconds{0};
  }
  if (around_.plant == Plant::kQuarantineIgnored) {
    options.policy.quarantine_after = 0;
  }
  absl::StatusOr<std::unique_ptr<control::CommitCycle>> cycle =
      control::CommitCycle::Start(std::move(options), store_, *this,
                                  around_.log);
  if (!cycle.ok()) {
    throw Violation("the coordinator does not start: " +
                    std::string(cycle.status().message()));
  }
  cycle_ = *std::move(cycle);
  Turn();
}

void SimCoordinator::CrashProcess() {
  if (!cycle_) return;
  cycle_.reset();
  ++life_;
  inbox_.clear();
  undone_.clear();
  stalled_ = false;
  stalled_until_ = {};
  turn_at_ = {};
  turn_is_due_ = false;
  store_.kill_in.reset();
  store_.LoseWhatWaits();
  for (auto& [id, session] : std::exchange(sessions_, {})) {
    session.wire->server_open = false;
    if (session.wire->cut) continue;
    const auto wire = session.wire;
    around_.network.Carry(*wire, Network::Way::kToAgent, [this, wire] {
      nodes_[wire->node]->WireBroken(
          wire, absl::UnavailableError("connection reset"));
    });
  }
  around_.clockwork.After(
      Seconds(around_.chance.Between(0.1, kRestartsWithin_s)),
      [this, life = life_] {
        if (life == life_) StartProcess();
      });
}

void SimCoordinator::StallProcess(Duration time) {
  if (!cycle_) return;
  stalled_ = true;
  stalled_until_ = std::max(stalled_until_, around_.clockwork.now() + time);
  around_.clockwork.After(time, [this, life = life_] {
    if (life != life_ || around_.clockwork.now() < stalled_until_) return;
    stalled_ = false;
    for (const auto& action : std::exchange(undone_, {})) {
      if (life == life_) action();
    }
  });
}

void SimCoordinator::InProcess(std::function<void()> action) {
  if (!cycle_) return;
  if (stalled_) {
    undone_.push_back(std::move(action));
  } else {
    action();
  }
}

void SimCoordinator::Later(Duration delay, std::function<void()> action) {
  around_.clockwork.After(
      delay, [this, life = life_, action = std::move(action)]() mutable {
        if (life == life_) InProcess(std::move(action));
      });
}

/// What arrives together is handled together, as the thread of control does.
void SimCoordinator::Post(control::Command command,
                          control::Answered answered) {
  inbox_.push_back({std::move(command), std::move(answered)});
  if (std::exchange(turn_is_due_, true)) return;
  Later(Seconds(around_.chance.Between(0.0001, 0.005)), [this] { Turn(); });
}

void SimCoordinator::Turn() {
  turn_is_due_ = false;
  try {
    cycle_->Turn(std::exchange(inbox_, {}));
  } catch (const CoordinatorKilled&) {
    return CrashProcess();
  }
  DemandReasons();
  const SteadyTime due =
      around_.clockwork.now() + (cycle_->NextTurn() - Now().steady);
  if (turn_at_ > around_.clockwork.now() && turn_at_ <= due) return;
  turn_at_ = due;
  Later(due - around_.clockwork.now(), [this, due] {
    if (turn_at_ == due) Turn();
  });
}

void SimCoordinator::Submit(const SweepPlan& plan, int64_t number) {
  ++unanswered_;
  const auto again = [this, plan, number](Duration delay) {
    around_.clockwork.After(delay, [this, plan, number] {
      --unanswered_;
      Submit(plan, number);
    });
  };
  if (!cycle_ || stalled_) return again(Seconds(1));
  const auto answered = std::make_shared<bool>(false);
  // A caller whose answer never comes asks again under the same id.
  around_.clockwork.After(Seconds(20), [answered, again] {
    if (!std::exchange(*answered, true)) again(Seconds(0));
  });
  Post(control::SubmitSweep{MakeSweep(plan, number),
                            0,
                            "request" + std::to_string(number),
                            false,
                            {},
                            {}},
       [this, answered, again](absl::StatusOr<control::Answer> answer) {
         if (std::exchange(*answered, true)) return;
         if (!answer.ok()) return again(Seconds(1));
         around_.oracle.OnSubmitted(
             std::get<control::SubmitAnswer>(*answer).sweep);
         --unanswered_;
       });
}

bool SimCoordinator::Cancel(int64_t which) {
  if (!cycle_) return false;
  std::vector<const control::Sweep*> sweeps;
  for (const auto& [id, sweep] : cycle_->control().state().sweeps) {
    if (sweep.record.state == SweepState::kActive) sweeps.push_back(&sweep);
  }
  if (sweeps.empty()) return false;
  const control::Sweep& sweep =
      *sweeps[static_cast<size_t>(which % std::ssize(sweeps))];
  const storage::TrialRecord& trial = sweep.cells[0].cohorts[0].trials[0];
  control::Target target = sweep.record.id;
  if (which % 3 == 1) target = trial.id.cell;
  if (which % 3 == 2) target = trial.id;
  AskToCancel(target, ++cancels_);
  return true;
}

void SimCoordinator::AskToCancel(const control::Target& target,
                                 int64_t request) {
  ++unanswered_;
  const auto answered = std::make_shared<bool>(false);
  const auto again = [this, target, request] {
    --unanswered_;
    AskToCancel(target, request);
  };
  around_.clockwork.After(Seconds(20), [answered, again] {
    if (!std::exchange(*answered, true)) again();
  });
  if (!cycle_ || stalled_) return;
  Post(control::CancelTarget{target, "cancel" + std::to_string(request), {}},
       [this, answered, target](absl::StatusOr<control::Answer> answer) {
         // What found no room is asked again.
         if (!answer.ok() && !absl::IsNotFound(answer.status())) return;
         if (std::exchange(*answered, true)) return;
         if (answer.ok()) around_.oracle.OnCancelled(target);
         --unanswered_;
       });
}

bool SimCoordinator::Accept(const std::shared_ptr<Wire>& wire) {
  if (!cycle_) return false;
  wire->session = ++sessions_begun_;
  sessions_[wire->session] = Session{wire, {}, true, false};
  return true;
}

void SimCoordinator::Carry(const std::shared_ptr<Wire>& wire,
                           v1::AgentMessage message) {
  if (wire->cut) return;
  around_.network.Carry(*wire, Network::Way::kToServer, [this, wire, message] {
    InProcess([this, wire, message] {
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
  Post(*std::move(command), [this, id](const auto& answer) {
    const auto again = sessions_.find(id);
    if (again == sessions_.end()) return;
    if (!answer.ok()) return Close(id, answer.status());
    again->second.reading = true;
    Read(id);
  });
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
  control::State state = cycle_->control().state();
  return state.FindCohort(cohort)->live->record.key.number;
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
  const std::shared_ptr<Wire> wire = found->second.wire;
  if (wire->cut) return;
  around_.network.Carry(*wire, Network::Way::kToAgent,
                        [this, wire, message = rpc::ToProto(order.order)] {
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
  if (sessions_.erase(id) == 0) return;
  Post(control::NodeLost{{id}}, [](const auto&) {});
}

void SimCoordinator::HearEndOf(const std::shared_ptr<Wire>& wire) {
  if (wire->cut) return;
  around_.network.Carry(*wire, Network::Way::kToServer, [this, wire] {
    InProcess([this, wire] { End(wire->session); });
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
      Later(Seconds(around_.chance.Between(0.1, 10)),
            [this, id = id] { End(id); });
    }
  }
}

void SimCoordinator::DemandReasons() const {
  if (!cycle_ || store_.is_full) return;
  const control::State& state = cycle_->control().state();
  for (const auto& [id, sweep] : state.sweeps) {
    if (sweep.record.state != SweepState::kActive) continue;
    if (!state.IsWaiting(id) || state.CountLive(id) > 0) continue;
    if (sweep.waiting_for.empty()) {
      throw Violation("sweep " + ToText(id) +
                      " waits and nobody says for what");
    }
  }
}

bool SimCoordinator::HoldsNothing() const {
  if (!cycle_) return false;
  for (const auto& [name, node] : cycle_->control().state().nodes) {
    if (!node.held.empty()) return false;
  }
  return true;
}

}  // namespace leadline::simulation
