// leadline-agent: holds a machine's devices and trains on them what a
// coordinator orders.

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>

#include "common/build_info.h"
#include "errors/error_code.h"
#include "errors/print_out.h"
#include "logging/open_log.h"
#include "proto/grpc_log.h"
#include "worker/agent/agent.h"
#include "worker/agent/config.h"
#include "worker/agent/fetch_ahead.h"
#include "worker/agent/leftovers.h"
#include "worker/agent/orphans.h"
#include "worker/agent/readiness.h"
#include "worker/agent/signal_thread.h"
#include "worker/agent/state_lock.h"

namespace leadline::agent {
namespace {

constexpr std::chrono::milliseconds kPatienceWithLeftovers{3000};
// Of a coordinator that ends, which must be gone within 6 s.
constexpr std::chrono::milliseconds kPatienceAtTheEnd{500};

std::string FreshInstance(std::random_device& random) {
  std::string text;
  for (int i = 0; i < 4; ++i) {
    char part[9];
    std::snprintf(part, sizeof part, "%08x", random());
    text += part;
  }
  return text;
}

AgentOptions MakeOptions(const Config& config, const std::string& host) {
  std::random_device random;
  AgentOptions options;
  options.identity.state = config.state;
  options.identity.node = config.node;
  options.identity.host = host;
  options.identity.collective_address = config.collective_address;
  options.policy.collective_timeout_s = config.collective_timeout_s;
  options.identity.instance = FreshInstance(random);
  options.identity.boot_id = ReadBootId();
  options.identity.version = BuildVersion();
  options.identity.commit = BuildCommit();
  options.trainer = config.trainer;
  options.session = ToSessionOptions(config);
  options.session.seed = random();
  options.policy.is_private = config.is_private;
  options.policy.hang.least = config.hang_after;
  options.spool = config.spool;
  options.checkpoints = config.checkpoints;
  options.nvml = config.nvml;
  return options;
}

int Fail(const absl::Status& status) {
  std::fputs(leadline::LastWords("leadline-agent", status).c_str(), stderr);
  return ServiceExitCode(status);
}

int Fail(const absl::Status& status, Log& log) {
  log.Write(LogLevel::kError, "failed",
            {{"code", std::string(Name(ErrorOf(status)))},
             {"message", std::string(status.message())}});
  return Fail(status);
}

/// Ends the process: the data thread may be in the middle of a large file,
/// which nobody needs any more. Files are there whole or not at all.
[[noreturn]] void Serve(const AgentOptions& options, const DataPlaces& data,
                        Log& log) {
  Agent agent(options, MakeDataFinder(data), log);
  absl::Status end;
  {
    const SignalThread signals(agent);
    end = agent.Run();
  }
  const int exit_code = end.ok() ? 0 : Fail(end, log);
  std::fflush(nullptr);
  std::_Exit(exit_code);
}

absl::StatusOr<std::unique_ptr<Log>> OpenLog(const Config& config) {
  if (config.log_file.empty()) return OpenStandardErrorLog(config.log);
  return OpenFileLog(config.log_file, config.log);
}

int Run(const Config& config, Offer offer, const std::string& host) {
  if (!config.fetch.empty()) return FetchAhead(config.fetch, config.data);
  AgentOptions options = MakeOptions(config, host);
  absl::StatusOr<StateLock> lock = StateLock::Take(config.state);
  if (!lock.ok()) return Fail(lock.status());
  const auto log = OpenLog(config);
  if (!log.ok()) return Fail(log.status());
  const bool only_end = config.only_end_leftovers;
  if (!EndLeftovers(config.state, options.identity.boot_id,
                    only_end ? HeldAttempts::kEnd : HeldAttempts::kSpare,
                    only_end ? kPatienceAtTheEnd : kPatienceWithLeftovers)) {
    return Fail(WithError(absl::InternalError("trainers of an earlier agent "
                                              "could not be ended"),
                          ErrorCode::kLeftovers),
                **log);
  }
  if (only_end) return 0;
  for (const std::string& note : offer.notes) {
    (*log)->Write(LogLevel::kWarning, "device_left_out", {{"why", note}});
  }
  options.identity.devices = std::move(offer.devices);
  options.identity.previous_instance = lock->Succeed(options.identity.instance);
  options.receives_orphans = ReceiveOrphans();
  Serve(options, config.data, **log);
}

int Print(const std::string& text) {
  const absl::Status printed = PrintOut(text);
  return printed.ok() ? 0 : Fail(printed);
}

int Main(int argc, char** argv) {
  SilenceGrpc();
  const Surroundings surroundings = ReadSurroundings();
  const Launch launch =
      ParseCommandLine(argc, argv, std::string(BuildVersion()), surroundings);
  if (!launch.config && launch.exit_code != 0) {
    std::fputs(launch.text.c_str(), stderr);
    return launch.exit_code;
  }
  if (!launch.config) return Print(launch.text);
  absl::StatusOr<Offer> offer = CheckReady(*launch.config);
  if (!offer.ok()) return Fail(offer.status());
  if (launch.only_prints) return Print(launch.text);
  return Run(*launch.config, *std::move(offer), surroundings.host);
}

}  // namespace
}  // namespace leadline::agent

int main(int argc, char** argv) {
  leadline::agent::SignalThread::Block();
  try {
    return leadline::agent::Main(argc, argv);
  } catch (const std::exception& error) {
    return leadline::agent::Fail(absl::InternalError(error.what()));
  }
}
