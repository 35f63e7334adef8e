#include "sim_coordinator.h"

#include <algorithm>
#include <utility>

#include "coordinator/control/waiting.h"
#include "coordinator/rpc/convert.h"

namespace leadline::simulation {
namespace {

constexpr int64_t kTrialsAPart = 3;  // what concerns more is done in parts
constexpr double kRestartsWithin_s = 15;
constexpr double kTurnWithin_s = 0.005;
constexpr double kLatestTurn_s = 1;
constexpr double kLateTurns = 0.1;

}  // namespace

SimCoordinator::SimCoordinator(Surroundings around, SimStore& store)
    : around_(around), store_(store), life_(around.clockwork) {}

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
  life_.Begin();
  around_.oracle.OnLoaded(store_.disk());
  control::CommitCycleOptions options;
  options.now = [this] { return Now(); };
  options.most_trials = kTrialsAPart;
  options.policy.most_moves = kTrialsAPart;
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
  life_.End();
  inbox_.clear();
  turn_at_ = {};
  turn_is_due_ = false;
  store_.kill_in.reset();
  store_.LoseWhatWaits();
  for (auto& [id, session] : std::exchange(sessions_, {})) {
    session.wire->server_open = false;
    NoteGone(session);
    if (session.wire->cut) continue;
    const auto wire = session.wire;
    around_.network.Carry(*wire, Network::Way::kToAgent, [this, wire] {
      nodes_[wire->node]->WireBroken(
          wire, absl::UnavailableError("connection reset"));
    });
  }
  around_.clockwork.After(
      Seconds(around_.chance.Between(0.1, kRestartsWithin_s)),
      [this, life = life_.number()] {
        if (life == life_.number()) StartProcess();
      });
}

/// What arrives together is handled together, as the thread of control does.
void SimCoordinator::Post(control::Command command,
                          control::Answered answered) {
  inbox_.push_back({std::move(command), std::move(answered)});
  if (std::exchange(turn_is_due_, true)) return;
  // Some turns come late, and much is handled in one then.
  const double most_s =
      around_.chance.Happens(kLateTurns) ? kLatestTurn_s : kTurnWithin_s;
  life_.Later(Seconds(around_.chance.Between(0.0001, most_s)),
              [this] { Turn(); });
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
  life_.Later(due - around_.clockwork.now(), [this, due] {
    if (turn_at_ == due) Turn();
  });
}

std::vector<SweepId> SimCoordinator::ActiveSweeps() const {
  std::vector<SweepId> active;
  if (!cycle_) return active;
  for (const auto& [id, sweep] : cycle_->control().state().sweeps) {
    if (sweep.record.state == SweepState::kActive) active.push_back(id);
  }
  return active;
}

void SimCoordinator::DemandReasons() const {
  if (!cycle_ || store_.is_full) return;
  const control::State& state = cycle_->control().state();
  for (const CohortId& id : state.waiting) {
    const control::Sweep& sweep = state.sweeps.at(id.cell.sweep);
    const auto& cell = sweep.cells[static_cast<size_t>(id.cell.number - 1)];
    if (sweep.record.state == SweepState::kActive &&
        control::DeferralOf(state, cell.cohorts[static_cast<size_t>(id.number)])
            .reason.empty()) {
      throw Violation("cohort " + ToText(id) +
                      " waits and nobody says for what");
    }
  }
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
