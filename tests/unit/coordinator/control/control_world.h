// A coordinator without threads: control on a memory store, a clock that moves
// when told, and verbs for what people and agents do.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "coordinator/control/control.h"
#include "coordinator/control/errands.h"
#include "coordinator/control/fold.h"
#include "coordinator/control/request_answers.h"
#include "coordinator/control/waiting.h"
#include "storage/open.h"

namespace leadline::control {

inline NewSweep MakeSweep(int64_t cells, int64_t seeds, int64_t cohort_size,
                          const std::string& hash = "hash") {
  NewSweep sweep;
  sweep.sweep.name = "sweep";
  sweep.sweep.canonical_hash = hash;
  for (int64_t seed = 0; seed < seeds; ++seed) sweep.seeds.push_back(seed);
  for (int64_t c = 0; c < cells; ++c) {
    NewCell cell;
    cell.record.hash = hash + "/" + std::to_string(c);
    cell.record.settings_json = R"({"devices":1,"threads":1})";
    cell.record.axes_json = "{}";
    cell.record.depth = c + 1;
    cell.record.dataset_label = "iid27";
    cell.record.method_label = "prenorm";
    cell.record.dataset = {"iid27", "", "d", "char", {0.9, 0.05, 0.05}, 27};
    cell.record.steps = 10;
    for (int64_t left = seeds; left > 0; left -= cohort_size) {
      cell.cohort_sizes.push_back(std::min(left, cohort_size));
    }
    sweep.cells.push_back(std::move(cell));
  }
  return sweep;
}

inline TrainerRecord StepAt(int64_t sequence, int64_t step,
                            int64_t replicas = 1) {
  TrainerStep body;
  body.step = step;
  body.train_loss.assign(replicas, 1.5);
  body.tokens_per_second = 100;
  return {sequence, body};
}

inline TrainerRecord ResultOf(int64_t sequence, int64_t replica, int64_t seed,
                              double loss) {
  TrainerResult body;
  body.replica = replica;
  body.seed = seed;
  body.result.validation_loss = loss;
  return {sequence, body};
}

inline TrainerRecord DivergenceOf(int64_t sequence, int64_t replica,
                                  int64_t seed) {
  return {sequence, TrainerReplicaEnd{replica, seed, true, 7, "loss is nan"}};
}

class World {
 public:
  explicit World(Policy policy = {}) : policy_(policy) { Restart(); }

  /// As after a kill: what is not in the store is gone.
  void Restart() {
    auto control =
        Control::Make(policy_, true, *store().NextSweepId(),
                      *store().LoadUnfinished(), now_, *store().LoadNodes());
    ASSERT_TRUE(control.ok()) << control.status();
    control_ = std::make_unique<Control>(*std::move(control));
    Commit(control_->Begin(now_));
  }

  Outcome Do(Command command) {
    if (auto* submit = std::get_if<SubmitSweep>(&command)) {
      submit->kept_answer = *store().FindAnswer(submit->request_id);
      submit->equal_sweep = *store().FindEqualSweep(
          submit->sweep.sweep.name, submit->sweep.sweep.canonical_hash);
    }
    LookUp(command);
    return Commit(control_->Apply(command, now_));
  }

  /// Until nothing is being done in parts; how many those were.
  int64_t CarryOut() {
    int64_t parts = 0;
    for (; HasErrands(control().state()); ++parts) Do(CarryOn{});
    return parts;
  }

  /// Answers of requests; a request id of its own each.
  RetryAnswer Retry(std::vector<Target> targets, bool failed = true,
                    bool cancelled = false, const std::string& id = "") {
    const Outcome outcome = Do(RetryTargets{
        std::move(targets), failed, cancelled, RequestId(id), {}, {}});
    EXPECT_TRUE(outcome.answer.ok()) << outcome.answer.status();
    return std::get<RetryAnswer>(*outcome.answer);
  }
  PauseAnswer Pause(SweepId sweep, bool stop = false,
                    const std::string& id = "") {
    last_ = Do(PauseSweep{sweep, stop, RequestId(id), {}});
    EXPECT_TRUE(last_.answer.ok()) << last_.answer.status();
    return std::get<PauseAnswer>(*last_.answer);
  }
  ResumeAnswer Resume(SweepId sweep, const std::string& id = "") {
    last_ = Do(ResumeSweep{sweep, RequestId(id), {}});
    EXPECT_TRUE(last_.answer.ok()) << last_.answer.status();
    return std::get<ResumeAnswer>(*last_.answer);
  }
  Explanation Explain(const Target& target) {
    const Outcome outcome = Do(ExplainTarget{target});
    EXPECT_TRUE(outcome.answer.ok()) << outcome.answer.status();
    return std::get<Explanation>(*outcome.answer);
  }
  /// Of the last pause or resume.
  const Outcome& last() const { return last_; }

  void Pass(Seconds time) {
    now_.steady += std::chrono::duration_cast<SteadyTime::duration>(time);
  }

  /// Time passes as a coordinator sees it: in ticks. Returns all orders given.
  Outcome Wait(Seconds time) {
    Outcome all;
    for (Seconds passed{0}; passed < time; passed += Seconds{1}) {
      Pass(Seconds{1});
      for (AgentOrder& order : Do(Tick{}).orders) {
        all.orders.push_back(std::move(order));
      }
    }
    return all;
  }

  /// Likewise, with all nodes heard every second.
  Outcome Idle(Seconds time) {
    Outcome all;
    for (Seconds passed{0}; passed < time; passed += Seconds{1}) {
      Beat(all);
      Pass(Seconds{1});
      Gather(Do(Tick{}), all);
    }
    Beat(all);
    return all;
  }

  /// Idles until an attempt of that cohort is live; false if that takes longer.
  bool IdleUntilLive(const CohortId& cohort, Seconds most) {
    for (Seconds passed{0}; passed < most; passed += Seconds{1}) {
      if (control().state().live.contains(cohort)) return true;
      Idle(Seconds{1});
    }
    return control().state().live.contains(cohort);
  }

  SweepId Submit(NewSweep sweep, const std::string& request_id = "r1") {
    const Outcome outcome =
        Do(SubmitSweep{std::move(sweep), 0, request_id, false, {}, {}});
    return std::get<SubmitAnswer>(*outcome.answer).sweep;
  }

  Outcome Register(int64_t session, const std::string& node, int64_t slots,
                   std::vector<HeldAttempt> held = {},
                   const std::string& instance = "i1") {
    std::vector<DeviceInfo> devices;
    for (int64_t i = 0; i < slots; ++i) {
      devices.push_back({"cpu:" + std::to_string(i), "cpu", 0});
    }
    return RegisterWith(session, node, std::move(devices), std::move(held),
                        instance);
  }

  Outcome RegisterWith(int64_t session, const std::string& node,
                       std::vector<DeviceInfo> devices,
                       std::vector<HeldAttempt> held = {},
                       const std::string& instance = "i1") {
    NodeRegistered command;
    command.session = {session};
    command.node = node;
    command.instance = instance;
    command.devices = std::move(devices);
    command.attempts = std::move(held);
    return Do(command);
  }

  Outcome Send(int64_t session, const AttemptKey& attempt,
               std::vector<TrainerRecord> records) {
    return Do(Records{{session}, attempt, std::move(records)});
  }

  Outcome End(int64_t session, const AttemptKey& attempt,
              std::optional<FailureKind> kind = std::nullopt) {
    return Do(AttemptEnded{{session}, attempt, 0, kind ? 1 : 0, 0, kind, ""});
  }

  TrialState StateOf(const TrialId& trial) {
    return reader().GetTrial(trial)->trial.state;
  }
  std::string ReasonOf(const TrialId& trial) {
    return reader().GetTrial(trial)->trial.reason;
  }
  SweepState StateOf(SweepId sweep) {
    return reader().GetSweep(sweep)->sweep.state;
  }
  storage::AttemptRecord Attempt(const AttemptKey& key) {
    return reader().ListAttempts(key.cohort)->at(key.number - 1);
  }

  const Cohort& CohortOf(int64_t sweep, int64_t cell, int64_t number = 0) {
    return control().state().sweeps.at({sweep}).cells.at(cell - 1).cohorts.at(
        number);
  }
  /// Why it waits.
  Deferred DeferralOf(int64_t sweep, int64_t cell) {
    return control::DeferralOf(control().state(), CohortOf(sweep, cell));
  }
  const storage::CohortRecord& StandingOf(int64_t sweep, int64_t cell) {
    return CohortOf(sweep, cell).record;
  }
  const storage::NodeRecord& NodeOf(const std::string& name) {
    return control().state().nodes.at(name).record;
  }

  storage::Store& store() { return *stores_.store; }
  const storage::StoreReader& reader() { return *stores_.reader; }
  const Control& control() const { return *control_; }
  Moment now() const { return now_; }
  const std::vector<storage::OrphanRecord>& orphans() const { return orphans_; }

 private:
  static void Gather(Outcome outcome, Outcome& all) {
    for (AgentOrder& order : outcome.orders) {
      all.orders.push_back(std::move(order));
    }
  }

  void Beat(Outcome& all) {
    std::vector<Heartbeat> beats;
    for (const auto& [name, node] : control().state().nodes) {
      if (!node.session) continue;
      Heartbeat& beat = beats.emplace_back();
      beat.session = *node.session;
      for (const auto& [key, devices] : node.held) beat.attempts.push_back(key);
    }
    for (const Heartbeat& beat : beats) Gather(Do(beat), all);
  }

  std::string RequestId(const std::string& id) {
    return id.empty() ? "own" + std::to_string(++requests_) : id;
  }

  /// What the commit cycle looks up before a request is applied.
  void LookUp(Command& command) {
    std::visit(
        [this]<typename Kind>(Kind& one) {
          if constexpr (requires { one.kept_answer; }) {
            one.kept_answer = *store().FindAnswer(one.request_id);
          }
        },
        command);
    if (auto* edit = std::get_if<EditSweep>(&command)) {
      AddEnded(edit->sweep, edit->ended);
    }
    if (auto* remove = std::get_if<RemoveTargets>(&command)) {
      for (const Target& target : remove->targets) {
        AddEnded(SweepOf(target), remove->ended);
      }
    }
    auto* retry = std::get_if<RetryTargets>(&command);
    if (!retry) return;
    for (const Target& target : retry->targets) {
      const SweepId id = SweepOf(target);
      const auto contents = store().LoadSweep(id);
      if (control_->state().sweeps.contains(id) || !contents.ok()) continue;
      retry->ended.push_back(std::make_shared<RecalledSweep>());
      AddPart(*retry->ended.back(), *contents);
    }
  }

  void AddEnded(SweepId id, std::vector<storage::SweepRecord>& ended) {
    const auto record = *store().FindSweep(id);
    if (record && !control_->state().sweeps.contains(id)) {
      ended.push_back(*record);
    }
  }

  Outcome Commit(Outcome outcome) {
    if (!outcome.changes.empty()) {
      const absl::Status committed = store().Commit(outcome.changes);
      EXPECT_TRUE(committed.ok()) << committed;
    }
    orphans_.insert(orphans_.end(), outcome.orphans.begin(),
                    outcome.orphans.end());
    return outcome;
  }

  Policy policy_;
  storage::StorePair stores_ = storage::MakeMemoryStore();
  Moment now_{SteadyTime{} + std::chrono::hours(1), {}};
  std::unique_ptr<Control> control_;
  std::vector<storage::OrphanRecord> orphans_;
  Outcome last_;
  int64_t requests_ = 0;
};

/// The orders of one kind among those of an outcome.
template <typename Kind>
std::vector<Kind> Orders(const Outcome& outcome) {
  std::vector<Kind> orders;
  for (const AgentOrder& order : outcome.orders) {
    if (const auto* one = std::get_if<Kind>(&order.order)) {
      orders.push_back(*one);
    }
  }
  return orders;
}

inline TrialId Trial(int64_t sweep, int64_t cell, int64_t index) {
  return {{{sweep}, cell}, index};
}

inline AttemptKey AttemptOf(int64_t sweep, int64_t cell, int64_t number,
                            int64_t cohort = 0) {
  return {{{{sweep}, cell}, cohort}, number};
}

}  // namespace leadline::control
