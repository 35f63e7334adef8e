// leadline-coordinator: one state folder, one server, until it is told to stop.

#include <csignal>
#include <cstdio>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/build_info.h"
#include "coordinator/certificate_watch.h"
#include "coordinator/config.h"
#include "coordinator/coordinator.h"
#include "coordinator/offline.h"
#include "coordinator/state_folder.h"
#include "errors/error_code.h"
#include "errors/print_out.h"
#include "logging/open_log.h"
#include "proto/grpc_log.h"
#include "storage/open.h"

namespace leadline {
namespace {

constexpr std::chrono::milliseconds kLook{100};

std::string BootId() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id;
}

std::string FreshKey() {
  std::random_device random;
  std::string key;
  for (int i = 0; i < 8; ++i) {
    const uint32_t part = random();
    key.append(reinterpret_cast<const char*>(&part), sizeof part);
  }
  return key;
}

/// What was bound, for people and programs: one line.
std::string Description(const Coordinator& coordinator, const Config& config) {
  nlohmann::ordered_json description = {
      {"pid", getpid()},
      {"boot_id", BootId()},
      {"started", storage::ToText(MomentNow().wall)},
      {"address", coordinator.address().ToText()},
      {"version", BuildVersion()},
      {"commit", BuildCommit()},
      {"private", config.is_private},
      {"state", config.state.string()},
  };
  if (const auto http = coordinator.http_address()) {
    description["http"] = *http;
  }
  return description.dump(-1, ' ', false,
                          nlohmann::json::error_handler_t::replace) +
         "\n";
}

/// True if one of the signals that end us came within the time.
bool SignalCame(const sigset_t& signals, std::chrono::milliseconds time) {
  const timespec wait{0, static_cast<long>(time.count()) * 1'000'000};
  return sigtimedwait(&signals, nullptr, &wait) > 0;
}

/// Before any thread is made: all inherit it.
sigset_t BlockSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  // A file that may not grow is a full disk, and no end.
  std::signal(SIGXFSZ, SIG_IGN);
  return signals;
}

/// A command that starts a coordinator reads its output until it has joined
/// it. Killed before that, it leaves a pipe without a reader.
bool OutputHasNoReader() {
  pollfd output{STDOUT_FILENO, 0, 0};
  return poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0;
}

int Fail(const absl::Status& status) {
  std::fputs(LastWords("leadline-coordinator", status).c_str(), stderr);
  return ServiceExitCode(status);
}

int Fail(const absl::Status& status, Log& log) {
  log.Write(LogLevel::kError, "failed",
            {{"code", std::string(Name(ErrorOf(status)))},
             {"message", std::string(status.message())}});
  return Fail(status);
}

int Serve(const Config& config, StateFolder& folder, Log& log,
          const sigset_t& signals) {
  CoordinatorOptions options;
  options.config = config;
  options.version = std::string(BuildVersion());
  options.commit = BuildCommit();
  options.gang_key = FreshKey();
  options.database = folder.path() / "leadline.db";
  std::error_code error;
  options.agent =
      std::filesystem::read_symlink("/proc/self/exe", error).parent_path() /
      "leadline-agent";
  storage::OpenOptions open;
  open.write_ahead_log = !folder.is_on_network();
  open.checked = [&log](const absl::Status& found) {
    log.Write(found.ok() ? LogLevel::kInfo : LogLevel::kError,
              found.ok() ? "database_checked" : "database_damaged",
              {{"message", std::string(found.message())}});
  };
  auto store = storage::OpenSqliteStore(options.database, std::move(open));
  if (!store.ok()) return Fail(store.status(), log);
  auto coordinator = Coordinator::Start(std::move(options), *store, log);
  if (!coordinator.ok()) return Fail(coordinator.status(), log);

  const std::string description = Description(**coordinator, config);
  const absl::Status written =
      folder.WriteFile("coordinator.json", description);
  if (!written.ok()) return Fail(written, log);
  std::fputs(description.c_str(), stdout);
  std::fflush(stdout);
  log.Write(LogLevel::kInfo, "started",
            {{"address", (*coordinator)->address().ToText()},
             {"pid", std::to_string(getpid())},
             {"version", std::string(BuildVersion())}});
  std::string why = "unused";
  bool has_reader = true;
  CertificateWatch certificate(config.tls, log);
  while (!(*coordinator)->WaitUntilUnused(kLook)) {
    certificate.Look(std::chrono::steady_clock::now());
    if (has_reader && OutputHasNoReader()) {
      has_reader = false;
      (*coordinator)->StarterHasGone();
    }
    if (SignalCame(signals, std::chrono::milliseconds(0))) {
      why = "signal";
      break;
    }
  }
  log.Write(LogLevel::kInfo, "stopping", {{"why", why}});
  (*coordinator)->Stop();
  log.Write(LogLevel::kInfo, "stopped", {});
  return 0;
}

int Print(const std::string& text) {
  const absl::Status printed = PrintOut(text);
  return printed.ok() ? 0 : Fail(printed);
}

/// Of --print-config: what is in effect, if it could be served.
int PrintConfig(const Launch& launch) {
  const absl::Status could = StateFolder::Check(
      launch.config->state, launch.config->allow_network_file_system);
  return could.ok() ? Print(launch.text) : Fail(could);
}

int Main(int argc, char** argv) {
  SilenceGrpc();
  if (const auto code = RunOffline(argc, argv)) return *code;
  const Launch launch =
      ParseCommandLine(argc, argv, std::string(BuildVersion()));
  if (!launch.config && launch.exit_code != 0) {
    std::fputs(launch.text.c_str(), stderr);
    return launch.exit_code;
  }
  if (!launch.config) return Print(launch.text);
  if (launch.only_prints) return PrintConfig(launch);
  umask(077);
  const sigset_t signals = BlockSignals();
  const Config& config = *launch.config;
  // The command that starts a private one looks again itself.
  auto folder =
      config.is_private
          ? StateFolder::Open(config.state, config.allow_network_file_system)
          : StateFolder::OpenSoon(config.state,
                                  config.allow_network_file_system);
  if (!folder.ok()) return Fail(folder.status());
  const auto log =
      OpenFileLog(folder->path() / "coordinator.log", launch.config->log);
  if (!log.ok()) return Fail(log.status());
  return Serve(*launch.config, *folder, **log, signals);
}

}  // namespace
}  // namespace leadline

int main(int argc, char** argv) {
  try {
    return leadline::Main(argc, argv);
  } catch (const std::exception& error) {
    return leadline::Fail(absl::InternalError(error.what()));
  }
}
