// leadline-agent: holds a machine's devices and trains on them what a
// coordinator orders.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>

#include <CLI/CLI.hpp>
#include <signal.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "worker/agent/agent.h"
#include "worker/agent/coordinator_address.h"
#include "worker/agent/fetch_ahead.h"
#include "worker/agent/leftovers.h"
#include "worker/agent/orphans.h"
#include "worker/agent/state_lock.h"
#include "worker/dataset/fetch/download.h"

namespace leadline::agent {
namespace {

constexpr std::chrono::milliseconds kPatienceWithLeftovers{3000};
// Of a coordinator that ends, which must be gone within 6 s.
constexpr std::chrono::milliseconds kPatienceAtTheEnd{500};

struct Flags {
  std::string state;
  std::string coordinator;
  std::string node;
  std::string trainer;
  std::string devices;
  std::string data;
  std::string data_url;
  std::string fetch;
  int64_t slots = 0;  // 0: one a core
  int64_t hang_after_s = 600;
  int64_t least_free_mb = 500;
  int64_t keep_days = 30;
  int64_t keep_mb = 20'000;
  bool is_private = false;
  bool only_end_leftovers = false;
};

class SpdLog final : public Log {
 public:
  SpdLog() : logger_(spdlog::stderr_logger_mt("agent")) {
    logger_->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
    logger_->flush_on(spdlog::level::info);
  }

  void Write(LogLevel level, std::string_view event,
             std::initializer_list<LogField> fields) override {
    std::string line(event);
    for (const LogField& field : fields) {
      line += " " + std::string(field.key) + "=" + field.value;
    }
    constexpr spdlog::level::level_enum kLevels[] = {
        spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
        spdlog::level::err};
    logger_->log(kLevels[static_cast<int>(level)], "{}", line);
  }

 private:
  std::shared_ptr<spdlog::logger> logger_;
};

void AddFlags(CLI::App& app, Flags& flags) {
  app.add_option("--state", flags.state,
                 "folder of this agent: data, attempts, logs; required");
  app.add_option("--coordinator", flags.coordinator,
                 "HOST:PORT or unix:PATH of the coordinator; required");
  app.add_option("--node", flags.node,
                 "name of this machine; default: the host's");
  app.add_option("--slots", flags.slots, "CPU slots; default: one a core")
      ->check(CLI::Range(int64_t{1}, int64_t{1024}));
  app.add_option("--devices", flags.devices,
                 "GPUs to offer, by index; this build offers CPU slots alone");
  app.add_option("--trainer", flags.trainer,
                 "the trainer program; default: leadline-trainer beside this");
  app.add_option("--data", flags.data,
                 "folder of the registered data sets, which agents of one "
                 "machine may share; default: data in the state folder")
      ->envname("LEADLINE_DATA");
  app.add_option("--data-url", flags.data_url,
                 "http://HOST/DIR of a mirror that has the files of data sets "
                 "under their names; default: where each comes from")
      ->envname("LEADLINE_DATA_URL");
  app.add_option("--fetch", flags.fetch,
                 "fetch that data set (text8, tinystories, tinystories_v2) "
                 "into the data folder, no more; needs no coordinator")
      ->option_text("NAME");
  app.add_option("--hang-after", flags.hang_after_s,
                 "seconds without a record or processor time after which a "
                 "trainer is taken to hang; at least ten times its own longest "
                 "wait, and sixty where it is busy")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000}))
      ->capture_default_str();
  app.add_option("--least-free-mb", flags.least_free_mb,
                 "free space below which no attempt starts")
      ->check(CLI::Range(int64_t{0}, int64_t{1'000'000'000}))
      ->capture_default_str();
  app.add_option("--keep-days", flags.keep_days,
                 "how long event files and logs of attempts are kept whose end "
                 "the coordinator has on disk; checkpoints always are")
      ->check(CLI::Range(int64_t{0}, int64_t{36'500}))
      ->capture_default_str();
  app.add_option("--keep-mb", flags.keep_mb,
                 "how much of them is kept; the oldest go first")
      ->check(CLI::Range(int64_t{0}, int64_t{1'000'000'000}))
      ->capture_default_str();
  app.add_flag("--private", flags.is_private,
               "end when the coordinator has gone");
  app.add_flag("--end-leftovers", flags.only_end_leftovers,
               "end the trainers that an earlier agent left behind, no more; "
               "without it they are adopted");
  app.set_config("--config", "", "file of these flags, one KEY=VALUE a line");
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.set_version_flag("--version", "leadline-agent " LEADLINE_VERSION);
}

std::filesystem::path ProgramBeside() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return self.parent_path() / "leadline-trainer";
}

std::string HostName() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name[0] == '\0' ? "localhost" : name;
}

std::string FreshInstance(std::random_device& random) {
  std::string text;
  for (int i = 0; i < 4; ++i) {
    char part[9];
    std::snprintf(part, sizeof part, "%08x", random());
    text += part;
  }
  return text;
}

AgentOptions MakeOptions(const Flags& flags) {
  std::random_device random;
  AgentOptions options;
  options.identity.state =
      std::filesystem::absolute(flags.state).lexically_normal();
  options.trainer = flags.trainer.empty()
                        ? ProgramBeside()
                        : std::filesystem::absolute(flags.trainer);
  options.identity.host = HostName();
  options.identity.node =
      flags.node.empty() ? options.identity.host : flags.node;
  options.identity.instance = FreshInstance(random);
  options.identity.boot_id = ReadBootId();
  options.identity.version = LEADLINE_VERSION;
  options.identity.devices =
      CpuSlots(flags.slots > 0 ? flags.slots : CountCores());
  options.session.coordinator = flags.coordinator;
  options.session.seed = random();
  options.policy.is_private = flags.is_private;
  options.policy.hang.least = std::chrono::seconds(flags.hang_after_s);
  constexpr int64_t kMega = 1'000'000;
  options.spool = {flags.least_free_mb * kMega,
                   std::chrono::hours(24 * flags.keep_days),
                   flags.keep_mb * kMega};
  return options;
}

int Fail(int code, const std::string& message) {
  std::fprintf(stderr, "leadline-agent: %s\n", message.c_str());
  return code;
}

/// Waits for the signals that end a program and tells the agent.
class SignalThread {
 public:
  explicit SignalThread(Agent& agent)
      : thread_([&agent](const std::stop_token& stop) {
          const sigset_t signals = Signals();
          const timespec rest{0, 100'000'000};
          while (!stop.stop_requested()) {
            if (sigtimedwait(&signals, nullptr, &rest) > 0) agent.Stop();
          }
        }) {}

  /// In main, before any other thread: so all of them inherit the mask.
  static void Block() {
    signal(SIGPIPE, SIG_IGN);
    const sigset_t signals = Signals();
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  }

 private:
  static sigset_t Signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
      sigaddset(&signals, number);
    }
    return signals;
  }

  std::jthread thread_;
};

DataPlaces Places(const Flags& flags) {
  const char* samples = std::getenv("LEADLINE_SAMPLES");
  const std::filesystem::path data =
      flags.data.empty() ? std::filesystem::path(flags.state) / "data"
                         : std::filesystem::path(flags.data);
  return {.folder = std::filesystem::absolute(data).lexically_normal(),
          .samples = samples == nullptr ? "" : samples,
          .base_url = flags.data_url};
}

int Run(const Flags& flags) {
  if (flags.state.empty() && (flags.fetch.empty() || flags.data.empty())) {
    return Fail(2, "--state is required");
  }
  const DataPlaces places = Places(flags);
  if (const std::string why = dataset::WhyNotBase(places.base_url);
      !why.empty()) {
    return Fail(2, "--data-url: " + why);
  }
  if (!flags.fetch.empty()) return FetchAhead(flags.fetch, places);
  if (absl::Status status = CheckAddress(flags.coordinator); !status.ok()) {
    return Fail(2, "--coordinator: " + std::string(status.message()));
  }
  if (!flags.devices.empty()) {
    return Fail(2, "--devices: this build offers CPU slots alone");
  }
  AgentOptions options = MakeOptions(flags);
  if (access(options.trainer.c_str(), X_OK) != 0) {
    return Fail(2, "no trainer at " + options.trainer.string() +
                       "; name one with --trainer");
  }
  absl::StatusOr<StateLock> lock = StateLock::Take(options.identity.state);
  if (!lock.ok()) return Fail(1, std::string(lock.status().message()));
  SpdLog log;
  const bool only_end = flags.only_end_leftovers;
  if (!EndLeftovers(options.identity.state, options.identity.boot_id,
                    only_end ? HeldAttempts::kEnd : HeldAttempts::kSpare,
                    only_end ? kPatienceAtTheEnd : kPatienceWithLeftovers)) {
    return Fail(1, "trainers of an earlier agent could not be ended");
  }
  if (only_end) return 0;
  options.identity.previous_instance = lock->Succeed(options.identity.instance);
  options.receives_orphans = ReceiveOrphans();
  Agent agent(options, MakeDataFinder(places), log);
  AgentEnd end;
  {
    const SignalThread signals(agent);
    end = agent.Run();
  }
  if (!end.message.empty()) Fail(end.exit_code, end.message);
  std::fflush(nullptr);
  // The data thread may be in the middle of a large file, which nobody needs
  // any more: files are there whole or not at all.
  std::_Exit(end.exit_code);
}

}  // namespace
}  // namespace leadline::agent

int main(int argc, char** argv) {
  leadline::agent::SignalThread::Block();
  try {
    CLI::App app{
        "leadline-agent: trains on this machine what a coordinator "
        "orders"};
    leadline::agent::Flags flags;
    leadline::agent::AddFlags(app, flags);
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return app.exit(error) == 0 ? 0 : 2;
    }
    return leadline::agent::Run(flags);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "leadline-agent: %s\n", error.what());
    return 1;
  }
}
