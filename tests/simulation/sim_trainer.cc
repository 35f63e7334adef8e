#include "sim_trainer.h"

#include <cstdio>
#include <string_view>

#include <signal.h>

#include "common/trainer_silence.h"

namespace leadline::simulation {
namespace {

constexpr double kStartsWithin_s = 3;
constexpr double kTermTakes_s = 2;
constexpr int64_t kFreeBytes = int64_t{1} << 30;
constexpr std::chrono::seconds kPeersWithin{60};
constexpr std::chrono::seconds kCollectiveWithin{30};
constexpr double kLooksEvery_s = 1;

std::string Numbers(size_t count, double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  std::string list = "[";
  for (size_t r = 0; r < count; ++r) list += (r ? "," : "") + std::string(text);
  return list + "]";
}

}  // namespace

SimProcess::SimProcess(TrainerJob job, int64_t pid,
                       std::shared_ptr<EventFile> events, Clockwork& clockwork,
                       Chance& chance, Oracle& oracle)
    : job_(std::move(job)),
      pid_(pid),
      events_(std::move(events)),
      clockwork_(clockwork),
      chance_(chance),
      oracle_(oracle),
      // Some train for longer than a lease and its grace together.
      steps_(chance.Happens(0.8) ? 2 + chance.Below(8) : 20 + chance.Below(20)),
      step_time_(Seconds(chance.Between(0.2, 5))),
      heard_at_(clockwork.now()) {
  if (chance_.Happens(0.1)) diverges_at_ = 1 + chance_.Below(steps_);
}

void SimProcess::Begin() {
  began_at_ = clockwork_.now();
  if (job_.gang) job_.gang->Add(job_.rank, weak_from_this());
  oracle_.OnTrainerStarted(job_.node, job_.attempt, job_.rank, job_.devices);
  Live(Seconds(chance_.Between(0.1, kStartsWithin_s)), &SimProcess::Start);
  Live(kTrainerSilence, &SimProcess::Watch);
  if (job_.fate == TrainerFate::kCrashes) Break("crash", "broken code");
  if (job_.fate == TrainerFate::kRunsOutOfMemory) Break("oom", "too large");
}

/// Does it unless it is gone by then, and not before it is awake.
void SimProcess::Live(Duration after, void (SimProcess::*what)()) {
  clockwork_.After(after, [self = shared_from_this(), what] {
    if (self->IsGone()) return;
    if (self->stalled_until_) {
      self->undone_.push_back(what);
    } else {
      (*self.*what)();
    }
  });
}

void SimProcess::Start() {
  if (job_.fate == TrainerFate::kDiesAtStart) return Exit(-1, SIGSEGV);
  listens_ = true;
  std::string seeds;
  for (const int64_t seed : job_.seeds) {
    seeds += (seeds.empty() ? "" : ",") + std::to_string(seed);
  }
  const bool written = Write(
      R"("event":"start","sequence":#,"time_s":0.1,"version":"1","commit":"c",)"
      R"("settings_hash":"h","data_hash":"d","seeds":[)" +
      seeds +
      R"(],"device":"cpu","threads":1,"numerics":"solo-fp32",)"
      R"("parameters":10,"tokens_per_step":8,"libraries":{})");
  if (written && job_.gang) return AwaitPeers();
  if (written) Live(step_time_, &SimProcess::Step);
}

std::optional<std::string> SimProcess::Address() const {
  if (!job_.gang || !listens_) return std::nullopt;
  return "10.0.0." + std::to_string(job_.node) + ":" + std::to_string(pid_);
}

void SimProcess::AwaitPeers() {
  if (job_.gang->IsComplete()) {
    return Live(step_time_,
                job_.rank == 0 ? &SimProcess::Step : &SimProcess::Follow);
  }
  if (clockwork_.now() - began_at_ > kPeersWithin) {
    return EndFailed("nccl_init", "not all ranks are there within 60 s");
  }
  Live(Seconds(kLooksEvery_s), &SimProcess::AwaitPeers);
}

/// False where it must wait for the others, or has ended for want of them.
bool SimProcess::MayGoOn(void (SimProcess::*again)()) {
  if (!job_.gang || !job_.misses_ranks) return true;
  if (job_.gang->HasLost()) {
    EndFailed("nccl", "all_reduce: a rank is gone");
    return false;
  }
  const auto since = job_.gang->StalledSince();
  if (!since) return true;
  if (clockwork_.now() - *since > kCollectiveWithin) {
    EndFailed("nccl", "all_reduce: not done within 30 s");
  } else {
    Live(Seconds(kLooksEvery_s), again);
  }
  return false;
}

/// What ranks above 0 do: nothing of it is told.
void SimProcess::Follow() {
  if (breaks_by_) return EndFailed(breaks_by_, says_);
  if (MayGoOn(&SimProcess::Follow)) {
    Live(Seconds(kLooksEvery_s), &SimProcess::Follow);
  }
}

bool SimProcess::EndWell() {
  if (IsGone() || !Write(R"("event":"end","sequence":#,"time_s":2.0,)"
                         R"("outcome":"succeeded","kind":null,"message":"")")) {
    return false;
  }
  Exit(0, 0);
  return true;
}

void SimProcess::Step() {
  if (breaks_by_) {
    oracle_.OnTrainerSteps(job_.attempt);
    return EndFailed(breaks_by_, says_);
  }
  if (!MayGoOn(&SimProcess::Step)) return;
  oracle_.OnTrainerSteps(job_.attempt);
  ++step_;
  const size_t replicas = job_.seeds.size();
  const std::string ones = Numbers(replicas, 1);
  const bool written = Write(
      R"("event":"step","sequence":#,"time_s":1.0,"step":)" +
      std::to_string(step_) + R"(,"tokens":8,"values":{"train_loss":)" +
      Numbers(replicas, MarkedLoss(job_.attempt, step_)) +
      R"(,"gradient_norm":)" + ones + R"(,"clip_factor":)" + ones +
      R"(},"learning_rate":)" +
      (std::exchange(poisons_, false) ? std::to_string(kPoison) : "0.001") +
      R"(,"step_seconds":0.1,"tokens_per_second":80)");
  if (!written) return;
  if (diverges_at_ == step_ &&
      !Write(R"("event":"replica_end","sequence":#,"time_s":1.0,"replica":0,)"
             R"("seed":)" +
             std::to_string(job_.seeds[0]) + R"(,"state":"diverged","step":)" +
             std::to_string(step_) + R"(,"reason":"loss is nan")")) {
    return;
  }
  if (step_ == steps_) return Finish();
  Live(step_time_, &SimProcess::Step);
}

void SimProcess::Finish() {
  if (!MayGoOn(&SimProcess::Finish)) return;
  if (job_.gang && !job_.gang->EndOthers(job_.rank) && job_.misses_ranks) {
    return EndFailed("nccl", "barrier: a rank is gone");
  }
  has_joined_ = false;  // what is lost from here on is no loss
  for (size_t r = diverges_at_ ? 1 : 0; r < job_.seeds.size(); ++r) {
    char line[512];
    std::snprintf(
        line, sizeof line,
        R"("event":"result","sequence":#,"time_s":2.0,"replica":%zu,"seed":%lld,)"
        R"("validation_loss":%.17g,"test_loss":null,"best_validation_loss":1.0,)"
        R"("best_step":1,"unit":"nats/char","steps":%lld,"tokens":%lld,)"
        R"("seconds":1.0,"peak_bytes":1,"parameters":10)",
        r, static_cast<long long>(job_.seeds[r]),
        TrueLoss(job_.attempt.cohort.cell, job_.seeds[r]),
        static_cast<long long>(steps_),
        static_cast<long long>(job_.attempt.number));
    if (!Write(line)) return;
  }
  if (Write(R"("event":"end","sequence":#,"time_s":2.0,"outcome":"succeeded",)"
            R"("kind":null,"message":"")")) {
    oracle_.OnTrainerFinished(job_.attempt);
    Exit(0, 0);
  }
}

void SimProcess::Watch() {
  if (!job_.watches_silence) return;
  const Duration silent = clockwork_.now() - heard_at_;
  if (silent >= kTrainerSilence) {
    return EndFailed("agent_lost", "no order for 30 s");
  }
  Live(kTrainerSilence - silent, &SimProcess::Watch);
}

void SimProcess::EndFailed(const char* kind, const char* message) {
  if (!job_.gang &&
      std::string_view(message).find("bad_alloc") != std::string_view::npos) {
    oracle_.OnEvidence(job_.attempt, FailureKind::kOom);
  }
  if (Write(std::string(R"("event":"end","sequence":#,"time_s":2.0,)"
                        R"("outcome":"failed","kind":")") +
            kind + R"(","message":")" + message + '"')) {
    Exit(1, 0);
  }
}

bool SimProcess::Write(const std::string& line) {
  if (events_->disk_is_full) {
    found_disk_full_ = true;
    Exit(1, 0);
    return false;
  }
  std::string text = "{" + line + "}";
  const size_t mark = text.find('#');
  text.replace(mark, 1, std::to_string(events_->lines.size() + 1));
  events_->lines.push_back(std::move(text));
  return true;
}

void SimProcess::Signal(int signal) {
  if (IsGone()) return;
  if (signal == SIGKILL) return Exit(-1, SIGKILL);
  if (signal != SIGTERM) return;
  clockwork_.After(Seconds(chance_.Between(0.01, kTermTakes_s)),
                   [self = shared_from_this()] {
                     if (!self->IsGone() && !self->stalled_until_)
                       self->EndAsTold();
                   });
}

void SimProcess::KillForMemory(bool is_named) {
  oom_ = is_named ? agent::OomEvidence::kNamed : agent::OomEvidence::kCounted;
  Exit(-1, SIGKILL);
}

/// Read once its agent sees that it is gone.
agent::EndTraces SimProcess::Traces() const {
  agent::EndTraces traces;
  traces.oom = oom_;
  traces.is_torn = found_disk_full_;
  traces.free_bytes = events_->disk_is_full ? 0 : kFreeBytes;
  // Of several ranks another may have been the first to fail.
  if (job_.gang) return traces;
  if (oom_ != agent::OomEvidence::kNone) {
    oracle_.OnEvidence(job_.attempt, FailureKind::kOom);
  } else if (found_disk_full_) {
    oracle_.OnEvidence(job_.attempt, events_->disk_is_full
                                         ? std::optional(FailureKind::kDisk)
                                         : std::nullopt);
  }
  return traces;
}

agent::Activity SimProcess::Look() const {
  return {std::ssize(events_->lines), 0, stalled_until_.has_value(), ""};
}

bool SimProcess::SendOrder(std::string_view order, SteadyTime as_of) {
  if (IsGone() || !listens_) return false;
  if (stalled_until_) {
    unheard_.emplace_back(order, as_of);
  } else {
    Hear(std::string(order), as_of);
  }
  return true;
}

void SimProcess::Hear(const std::string& order, SteadyTime as_of) {
  heard_at_ = std::max(heard_at_, as_of);
  if (order == "peers") has_joined_ = true;
  if (order == "stop") {
    Live(Seconds(chance_.Between(0.01, kTermTakes_s)), &SimProcess::EndAsTold);
  }
}

void SimProcess::EndAsTold() {
  if (Write(R"("event":"end","sequence":#,"time_s":2.0,"outcome":"cancelled",)"
            R"("kind":null,"message":"stopped by order")")) {
    Exit(1, 0);
  }
}

void SimProcess::Stall(Duration time) {
  if (IsGone()) return;
  const SteadyTime until = clockwork_.now() + time;
  if (stalled_until_ && *stalled_until_ >= until) return;
  stalled_until_ = until;
  if (!stalled_since_) stalled_since_ = clockwork_.now();
  clockwork_.After(time, [self = shared_from_this(), until] {
    if (!self->IsGone() && self->stalled_until_ == until) self->Resume();
  });
}

/// Orders that waited in the socket are heard first, then what was due happens.
void SimProcess::Resume() {
  stalled_until_.reset();
  stalled_since_.reset();
  for (const auto& [order, as_of] : std::exchange(unheard_, {})) {
    if (!IsGone()) Hear(order, as_of);
  }
  Watch();
  for (const auto what : std::exchange(undone_, {})) {
    if (!IsGone()) (this->*what)();
  }
}

void SimProcess::Exit(int code, int signal) {
  status_ = agent::ExitStatus{code, signal};
  stalled_since_.reset();
  oracle_.OnTrainerGone(job_.node, job_.attempt, job_.rank,
                        code == 0 || (job_.gang && !has_joined_));
}

}  // namespace leadline::simulation
