// What starts and what is said of the rest, on random clusters: as if each
// waiting cohort had been asked anew, though only what has moved is.

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "control_world.h"
#include "coordinator/control/candidates.h"
#include "coordinator/control/dispatch.h"
#include "coordinator/control/failure_limits.h"
#include "coordinator/control/placement.h"
#include "tests/support/plain_schedule.h"

namespace leadline::control {
namespace {

namespace plain = scheduler::plain;

/// Why it must wait for processes to end, of all that nodes hold.
std::string WaitsForEnd(const Step& step, const Cohort& cohort) {
  const auto patience = PatienceWithNodes(step.policy);
  for (const auto& [name, node] : step.state.nodes) {
    for (const auto& [key, devices] : node.held) {
      if (key.cohort != cohort.record.id) continue;
      SteadyTime since = node.heard;
      if (node.session) {
        since = std::max(cohort.ended_at.value_or(step.state.began),
                         node.connection->steady);
      }
      if (step.now.steady - since > patience) continue;
      return "the attempt before it is still being ended on node " + name;
    }
  }
  return "";
}

std::string WaitsForRetry(const Step& step, const Cohort& cohort) {
  if (!cohort.retry_at || *cohort.retry_at <= step.now.steady) return "";
  const Seconds left = *cohort.retry_at - step.now.steady;
  return cohort.retry_reason + "; tries again in " +
         std::to_string(static_cast<int64_t>(std::ceil(left.count()))) + " s";
}

/// All of the queue, looked at anew.
struct Expected {
  plain::Snapshot snapshot;
  std::map<CohortId, Deferred> kept_back;
  plain::Plan plan;
};

Expected Expect(Step& step) {
  Expected all;
  for (const auto& [name, node] : step.state.nodes) {
    if (node.session) {
      all.snapshot.nodes.push_back(ViewOf(node, step.now.steady));
    }
  }
  for (const auto& [id, sweep] : step.state.sweeps) {
    if (const auto limit = sweep.record.parallel_limit) {
      all.snapshot.limits.push_back(
          {id, *limit, *limit - step.state.CountLive(id)});
    }
  }
  for (const CohortId& id : step.state.waiting) {
    const Sweep& sweep = *step.state.FindSweep(id.cell.sweep);
    if (sweep.record.state != SweepState::kActive) continue;
    const Cohort& cohort = *step.state.FindCohort(id);
    std::string wait = WaitsForRetry(step, cohort);
    if (wait.empty()) wait = WaitsForEnd(step, cohort);
    if (!wait.empty()) {
      all.kept_back[id] = {wait, false};
      continue;
    }
    const scheduler::Demand demand = DemandOf(step, cohort);
    all.snapshot.queue.push_back({id, sweep.record.priority, demand.ranks,
                                  demand.threads, demand.more_memory_than,
                                  demand.avoid, demand.never});
  }
  all.plan = plain::OneByOne(all.snapshot);
  return all;
}

std::vector<std::pair<CohortId, std::vector<storage::RankRecord>>> Started(
    const std::vector<scheduler::Placement>& placements) {
  std::vector<std::pair<CohortId, std::vector<storage::RankRecord>>> started;
  for (const scheduler::Placement& placement : placements) {
    auto& ranks = started.emplace_back(placement.cohort, 0).second;
    for (const scheduler::Part& part : placement.parts) {
      const int64_t each = std::ssize(part.devices) / part.ranks;
      for (int64_t rank = 0; rank < part.ranks; ++rank) {
        const auto first = part.devices.begin() + rank * each;
        ranks.push_back({part.node, {first, first + each}, 0});
      }
    }
  }
  return started;
}

std::vector<std::pair<CohortId, std::vector<storage::RankRecord>>> Started(
    const Outcome& outcome) {
  std::vector<std::pair<CohortId, std::vector<storage::RankRecord>>> started;
  for (const storage::Change& change : outcome.changes) {
    if (const auto* start = std::get_if<storage::StartAttempt>(&change)) {
      started.emplace_back(start->attempt.key.cohort, start->attempt.ranks);
    }
  }
  return started;
}

class Cluster {
 public:
  explicit Cluster(uint32_t seed) : random_(seed) {
    state_.began = now_.steady;
  }

  void Something() {
    switch (Below(16)) {
      case 0:
        return Submit();
      case 1:
      case 2:
        return Register();
      case 3:
        return Below(3) == 0 ? Lose() : Beat();
      case 4:
        return ChangeMind();
      case 5:
        Do(ClientsWantWork{Below(4) > 0});
        return;
      case 6:
      case 7:
      case 8:
        now_.steady += std::chrono::seconds(Below(12));
        Beat();
        return Do(Tick{});
      case 9:
        return EndHeld();
      default:
        return Advance();
    }
  }

  int64_t placed() const { return placed_; }
  int64_t reasons() const { return reasons_; }

 private:
  size_t Below(size_t n) { return random_() % n; }
  std::string Request() { return "r" + std::to_string(++requests_); }
  std::string AnyNode() { return "n" + std::to_string(Below(5)); }

  void Do(const Command& command) {
    Step step{state_, policy_, now_, {}};
    Dispatch(step, command);
    const bool places = state_.must_place && state_.work_wanted;
    if (places) CancelWhatWaits(step);
    ASSERT_TRUE(Started(step.outcome).empty());
    Expected expected;
    if (places) expected = Expect(step);
    Place(step);
    ASSERT_EQ(Started(step.outcome), Started(expected.plan.placements));
    placed_ += std::ssize(expected.plan.placements);
    if (places) CheckReasons(expected);
    CheckAllAreSomewhere();
  }

  void CheckReasons(const Expected& expected) {
    std::map<CohortId, Deferred> reasons = expected.kept_back;
    std::map<SweepId, std::string> first;
    std::set<SweepId> can_run;
    for (const auto& [id, wait] : reasons) {
      first.emplace(id.cell.sweep, wait.reason);
      can_run.insert(id.cell.sweep);
    }
    for (const plain::Deferral& deferral : expected.plan.deferrals) {
      const SweepId sweep = deferral.cohort.cell.sweep;
      reasons[deferral.cohort] = {deferral.reason, deferral.infeasible};
      first.emplace(sweep, deferral.reason);
      if (!deferral.infeasible) can_run.insert(sweep);
    }
    for (const auto& [id, sweep] : state_.sweeps) {
      ASSERT_EQ(sweep.waiting_for, first[id]);
      ASSERT_TRUE(sweep.can_run || !can_run.contains(id));
    }
    for (const auto& [id, wait] : reasons) {
      const Deferred told = DeferralOf(state_, *state_.FindCohort(id));
      ASSERT_EQ(told.reason, wait.reason) << ToText(id);
      ASSERT_EQ(told.infeasible, wait.infeasible) << ToText(id);
    }
    reasons_ += std::ssize(reasons);
  }

  void CheckAllAreSomewhere() {
    std::set<CohortId> there = state_.lines.kept_back;
    for (const auto& [key, line] : state_.lines.lines) {
      ASSERT_FALSE(line.cohorts.empty());
      there.insert(line.cohorts.begin(), line.cohorts.end());
    }
    if (!state_.lines.moved.empty()) return;
    ASSERT_EQ(there, state_.waiting);
    int64_t ages = 0;
    for (const auto& [sweep, of_sweep] : state_.lines.by_age) {
      for (const auto& [since, count] : of_sweep) ages += count;
    }
    ASSERT_EQ(ages, std::ssize(state_.waiting));
  }

  void Submit() {
    if (state_.waiting.size() > 40) return;
    const int64_t seeds = 1 + static_cast<int64_t>(Below(4));
    NewSweep sweep = MakeSweep(1 + static_cast<int64_t>(Below(6)), seeds,
                               1 + static_cast<int64_t>(Below(2)));
    for (NewCell& cell : sweep.cells) {
      cell.record.settings_json =
          "{\"devices\":" + std::to_string(Below(4) == 0 ? 1 + Below(5) : 1) +
          ",\"threads\":" + std::to_string(1 + Below(3)) + "}";
    }
    sweep.sweep.priority = static_cast<int64_t>(Below(3));
    if (Below(3) == 0) {
      sweep.sweep.parallel_limit = 1 + static_cast<int64_t>(Below(3));
    }
    if (Below(4) == 0) {
      sweep.sweep.failure_limit = 1 + static_cast<int64_t>(Below(4));
    }
    Do(SubmitSweep{std::move(sweep), 0, Request(), true, {}, {}});
  }

  void Register() {
    NodeRegistered command;
    command.session = {++sessions_};
    command.node = AnyNode();
    command.instance = "i" + std::to_string(Below(3));
    command.takes_gangs = Below(4) > 0;
    const int64_t memory = static_cast<int64_t>(Below(3)) << 30;
    const bool is_gpu = Below(3) == 0;
    for (size_t i = Below(5); i > 0; --i) {
      const std::string id = std::to_string(i);
      command.devices.push_back(is_gpu ? DeviceInfo{"g" + id, "gpu", memory}
                                       : DeviceInfo{"c" + id, "cpu", memory});
    }
    const auto known = state_.nodes.find(command.node);
    if (known != state_.nodes.end() && Below(3) > 0) {
      for (const auto& [key, devices] : known->second.held) {
        if (Below(4) > 0) command.attempts.push_back({key, devices});
      }
    }
    Do(command);
  }

  void Lose() {
    if (state_.sessions.empty()) return;
    auto at = state_.sessions.begin();
    std::advance(at, Below(state_.sessions.size()));
    Do(NodeLost{at->first});
  }

  void Beat() {
    std::vector<Heartbeat> beats;
    for (const auto& [session, name] : state_.sessions) {
      Heartbeat& beat = beats.emplace_back(Heartbeat{session, 1, {}});
      for (const auto& [key, devices] : state_.nodes.at(name).held) {
        beat.attempts.push_back(key);
      }
    }
    for (const Heartbeat& beat : beats) Do(beat);
  }

  SweepId AnySweep() {
    return {1 + static_cast<int64_t>(
                    Below(static_cast<size_t>(state_.next_sweep.value)))};
  }

  void ChangeMind() {
    const SweepId sweep = AnySweep();
    switch (Below(5)) {
      case 0:
        return Do(PauseSweep{sweep, Below(2) == 0, Request(), {}});
      case 1:
        return Do(CancelTarget{CellId{sweep, 1}, Request(), {}});
      case 2:
        return Do(RetryTargets{{sweep}, true, true, Request(), {}, {}});
      case 3:
        return Do(CancelTarget{sweep, Request(), {}});
      default:
        return Do(ResumeSweep{sweep, Request(), {}});
    }
  }

  /// Of what some node holds, live or not.
  void EndHeld() {
    for (const auto& [session, name] : state_.sessions) {
      const Node& node = state_.nodes.at(name);
      if (node.held.empty() || Below(2) == 0) continue;
      return Do(AttemptEnded{session, node.held.begin()->first, 0, 1, 0,
                             std::nullopt, ""});
    }
  }

  void Advance() {
    if (state_.live.empty()) return;
    auto at = state_.live.begin();
    std::advance(at, Below(state_.live.size()));
    const LiveAttempt& live = *state_.FindCohort(*at)->live;
    const LivePart& part = live.parts[Below(live.parts.size())];
    const Node& node = state_.nodes.at(part.node);
    if (!node.session) return;
    const SessionId session = *node.session;
    const AttemptKey key = live.record.key;
    int64_t sequence = live.record.last_sequence;
    switch (Below(4)) {
      case 0:
        return Do(Records{session, key, {StepAt(sequence + 1, sequence + 1)}});
      case 1: {
        static constexpr FailureKind kKinds[] = {
            FailureKind::kCrash,  FailureKind::kOom,  FailureKind::kData,
            FailureKind::kDevice, FailureKind::kDisk, FailureKind::kConfig};
        return Do(AttemptEnded{session, key, 0, 1, 0, kKinds[Below(6)], "why"});
      }
      default:
        break;
    }
    std::vector<TrainerRecord> records;
    const Cohort& cohort = *state_.FindCohort(key.cohort);
    for (int64_t r = 0; r < std::ssize(cohort.trials); ++r) {
      records.push_back(ResultOf(++sequence, r, cohort.trials[r].seed, 1.0));
    }
    Do(Records{session, key, std::move(records)});
    if (Below(3) > 0) {
      Do(AttemptEnded{session, key, 0, 0, 0, std::nullopt, ""});
    }
  }

  std::mt19937 random_;
  Policy policy_;
  State state_;
  Moment now_{SteadyTime{} + std::chrono::hours(1), {}};
  int64_t requests_ = 0;
  int64_t sessions_ = 0;
  int64_t placed_ = 0;
  int64_t reasons_ = 0;
};

TEST(PlacementProperty, DecidesAsIfAllThatWaitsWereAskedAnew) {
  int64_t placed = 0;
  int64_t reasons = 0;
  for (uint32_t seed = 1; seed <= 60 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Cluster cluster(seed);
    for (int i = 0; i < 400 && !testing::Test::HasFailure(); ++i) {
      SCOPED_TRACE("event " + std::to_string(i));
      cluster.Something();
    }
    placed += cluster.placed();
    reasons += cluster.reasons();
  }
  EXPECT_GT(placed, 1000) << "nothing to compare";
  EXPECT_GT(reasons, 10'000);
}

}  // namespace
}  // namespace leadline::control
