#include "worker/agent/agent.h"

#include <utility>

namespace leadline::agent {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr size_t kMostInputs = 1024;
constexpr milliseconds kTimeToLeave{2'800};
constexpr milliseconds kTimeToSayGoodbye{500};

}  // namespace

Agent::Agent(AgentOptions options, FindData find, Log& log)
    : options_(std::move(options)),
      log_(log),
      inputs_(kMostInputs),
      host_({options_.identity.state,
             options_.trainer,
             options_.identity.boot_id,
             options_.receives_orphans,
             options_.spool,
             options_.checkpoints,
             options_.nvml,
             {[this](SweepId sweep, const RemovedFiles& removed) {
                TellRemoved(sweep, removed);
              },
              [this](FilesWeighed weighed) { inputs_.Push(weighed); }}}),
      data_(std::make_unique<DataThread>(
          std::move(find),
          [this](DataFound found) { inputs_.Push(std::move(found)); },
          [this](DataNews news) { inputs_.Push(std::move(news)); })) {}

Agent::~Agent() {
  inputs_.Close();
  session_.reset();
  data_.reset();
}

void Agent::TellRemoved(SweepId sweep, const RemovedFiles& removed) {
  if (removed == RemovedFiles{}) return;
  log_.Write(removed.failed > 0 ? LogLevel::kWarning : LogLevel::kInfo,
             "sweep_files_removed",
             {{"sweep", ToText(sweep)},
              {"attempts", std::to_string(removed.attempts)},
              {"checkpoints", std::to_string(removed.checkpoints)},
              {"bytes", std::to_string(removed.bytes)},
              {"failed", std::to_string(removed.failed)}});
}

void Agent::Stop() { inputs_.Push(StopWanted{}); }

absl::Status Agent::Run() {
  session_ = std::make_unique<Session>(
      options_.session,
      [this](SessionEvent event) { inputs_.Push(std::move(event)); });
  logic_ = std::make_unique<AgentLogic>(
      options_.identity, options_.policy,
      AgentParts{host_, *session_, *data_, log_}, Clock::now());
  while (!stop_wanted_ && !logic_->end()) {
    TakeTurn(logic_->NextWake(Clock::now()));
  }
  Leave();
  return logic_->end().value_or(absl::OkStatus());
}

void Agent::TakeTurn(SteadyTime deadline) {
  auto input = inputs_.PopUntil(deadline);
  const auto now = Clock::now();
  if (input && std::holds_alternative<StopWanted>(*input)) {
    stop_wanted_ = true;
  } else if (input && std::holds_alternative<DataFound>(*input)) {
    logic_->Handle(std::get<DataFound>(*std::move(input)), now);
  } else if (input && std::holds_alternative<DataNews>(*input)) {
    logic_->Handle(std::get<DataNews>(*input));
  } else if (input && std::holds_alternative<FilesWeighed>(*input)) {
    logic_->Handle(std::get<FilesWeighed>(*input));
  } else if (input) {
    logic_->Handle(std::get<SessionEvent>(*std::move(input)), now);
  }
  logic_->Tick(now);
}

void Agent::Leave() {
  const auto deadline = Clock::now() + kTimeToLeave;
  logic_->Leave(Clock::now());
  while (!logic_->AllGone() && Clock::now() < deadline) {
    TakeTurn(Clock::now() + milliseconds(20));
  }
  logic_->Tick(Clock::now());
  session_->Finish(Clock::now() + kTimeToSayGoodbye);
}

}  // namespace leadline::agent
