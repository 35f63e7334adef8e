#include "coordinator/config.h"

#include <algorithm>
#include <utility>

#include <CLI/CLI.hpp>

#include "common/trainer_silence.h"
#include "errors/error_code.h"
#include "flags/command_line.h"
#include "flags/values.h"
#include "tls/host_port.h"

namespace leadline {
namespace {

constexpr char kAbout[] =
    "The coordinator: takes sweeps, hands their cohorts to agents, keeps what "
    "they measure.\n\n"
    "On one machine there is no need to start it: `leadline run SWEEP.yaml` "
    "does.\nFor several machines start it here with --listen HOST:PORT, a "
    "certificate and a first\ntoken (docs/security.md), and on each of them\n"
    "  leadline-agent --state DIR --coordinator HOST:PORT --tls-ca FILE "
    "--token-file FILE";

constexpr char kFooter[] =
    "What was bound is printed as one JSON line and written to "
    "STATE/coordinator.json.\nEverything lies in STATE: leadline.db (SQLite), "
    "coordinator.log, the socket.\n"
    "It ends on SIGTERM or SIGINT; work goes on when it is started again.";

struct Flags {
  std::string state;
  std::string listen;
  std::string http;
  tls::ServerFiles tls;
  access::Limits limits;
  bool allow_network = false;
  bool is_private = false;
  double lease = control::Policy{}.lease.count();
  double heartbeat = control::Policy{}.heartbeat.count();
  double grace = control::Policy{}.grace.count();
  int64_t tries = control::Policy{}.tries;
  int64_t tries_in_total = control::Policy{}.tries_in_total;
  int64_t free_restarts = control::Policy{}.free_restarts;
  int64_t quarantine_after = control::Policy{}.quarantine_after;
  int64_t keep_archived = 0;
  LogFlags log;
};

void Declare(CLI::App& app, Flags& flags) {
  app.footer(kFooter);
  app.add_option("--state", flags.state, "folder it owns: made if need be")
      ->required()
      ->type_name("DIR");
  app.add_option("--listen", flags.listen,
                 "HOST:PORT (port 0: any free one) or unix:PATH; default: "
                 "unix:STATE/coordinator.sock, which is always served too")
      ->type_name("ADDRESS");
  app.add_option("--http", flags.http,
                 "HOST:PORT (port 0: any free one) that serves "
                 "/metrics for Prometheus, /healthz and /readyz; default: none")
      ->type_name("HOST:PORT");
  app.add_flag("--allow-network-filesystem", flags.allow_network,
               "take a state folder on NFS and the like, without SQLite's "
               "write-ahead log there")
      ->envname("LEADLINE_ALLOW_NETWORK_FILESYSTEM");
  app.add_option("--tls-cert", flags.tls.certificate,
                 "certificate of HOST (PEM); an address that others than this "
                 "machine reach needs one")
      ->type_name("FILE");
  app.add_option("--tls-key", flags.tls.key,
                 "its private key (PEM), which others must not be able to read")
      ->type_name("FILE");
  app.add_option("--tls-client-ca", flags.tls.client_ca,
                 "authorities (PEM) of which clients must show a certificate")
      ->type_name("FILE");
  app.add_option("--calls-per-second", flags.limits.calls_a_second,
                 "of one token, or of all that come without one; four times "
                 "as many at once")
      ->check(flags::Number(1.0, 1e6))
      ->capture_default_str();
  app.add_option("--streams-per-caller", flags.limits.streams_of_caller,
                 "watches and attached commands that one token may hold open")
      ->check(flags::WholeNumber(1, 100'000))
      ->capture_default_str();
  app.add_option("--streams", flags.limits.streams_of_readers,
                 "and all of them together; agents do not count")
      ->check(flags::WholeNumber(1, 100'000))
      ->capture_default_str();
  app.add_flag("--private", flags.is_private,
               "end when the last command has gone; keep a local agent while "
               "one waits for work");
  app.add_option("--lease", flags.lease,
                 "seconds of silence after which an attempt is unreachable")
      ->check(flags::Number(2.0, 86400.0))
      ->capture_default_str();
  app.add_option("--heartbeat", flags.heartbeat,
                 "seconds between heartbeats; at most a third of the lease")
      ->check(flags::Number(0.2, 28800.0))
      ->capture_default_str();
  app.add_option(
         "--grace", flags.grace,
         "seconds after the lease until another attempt starts; half of "
         "--lease and --grace together must exceed 30, after which a "
         "trainer that hears nothing ends itself")
      ->check(flags::Number(0.0, 86400.0))
      ->capture_default_str();
  app.add_option("--tries", flags.tries,
                 "failed attempts of a cohort in a row until its trials have "
                 "failed; one that gets further than any before begins anew")
      ->check(flags::WholeNumber(1, 100))
      ->capture_default_str();
  app.add_option("--tries-in-total", flags.tries_in_total,
                 "failed attempts of a cohort until its trials have failed, "
                 "however far they got; never below --tries")
      ->check(flags::WholeNumber(1, 1000))
      ->capture_default_str();
  app.add_option("--free-restarts", flags.free_restarts,
                 "attempts of a cohort in an hour that may end through no "
                 "fault of its own (lost agent, full disk) before the next "
                 "ones are held back")
      ->check(flags::WholeNumber(1, 3600))
      ->capture_default_str();
  app.add_option("--keep-archived", flags.keep_archived,
                 "days after which curves, routing and window losses of an "
                 "archived sweep are removed; its results stay; 0: never")
      ->check(flags::WholeNumber(0, 36500))
      ->capture_default_str();
  app.add_option("--quarantine-after", flags.quarantine_after,
                 "failures in a row on a node until it takes no work but one "
                 "attempt at a time that shows whether it is well; 0: never")
      ->check(flags::WholeNumber(0, 1000))
      ->capture_default_str();
  AddLogFlags(app, flags.log);
}

Launch Misuse(const std::string& message) {
  return {
      std::nullopt, 2,
      LastWords("leadline-coordinator", absl::InvalidArgumentError(message))};
}

/// Why the address and the files of TLS do not go together; empty if they do.
std::string WhyNotServed(const Config& config) {
  if (config.address.is_unix && !config.http && config.tls.any()) {
    return "--tls-cert, --tls-key and --tls-client-ca are for addresses; give "
           "--listen HOST:PORT";
  }
  if (!config.tls.any()) return "";
  // Used later; looked at now, so that a wrong file is misuse.
  return std::string(tls::ServerCredentials(config.tls).status().message());
}

Launch ToLaunch(const Flags& flags) {
  if (flags.heartbeat * 3 > flags.lease) {
    return Misuse(
        "--heartbeat must be at most a third of --lease, or one lost "
        "message ends a lease");
  }
  // An agent renews on an answer up to half a lease old.
  if (control::Seconds(flags.lease / 2 + flags.grace) <= kTrainerSilence) {
    return Misuse(
        "half of --lease and --grace together must exceed 30 s: until then a "
        "trainer that nobody hears may still run");
  }
  Config config;
  std::error_code error;
  config.state = std::filesystem::absolute(flags.state, error);
  config.listen = flags.listen;
  config.allow_network_file_system = flags.allow_network;
  config.is_private = flags.is_private;
  config.policy.lease = control::Seconds(flags.lease);
  config.policy.heartbeat = control::Seconds(flags.heartbeat);
  config.policy.grace = control::Seconds(flags.grace);
  config.policy.tries = flags.tries;
  config.policy.tries_in_total = std::max(flags.tries_in_total, flags.tries);
  config.policy.free_restarts = flags.free_restarts;
  config.policy.quarantine_after = flags.quarantine_after;
  config.keep_archived_days = flags.keep_archived;
  config.log = ToLogOptions(flags.log);
  const std::string listen =
      flags.listen.empty()
          ? "unix:" + (config.state / "coordinator.sock").string()
          : flags.listen;
  auto address = rpc::ParseListenAddress(listen);
  if (!address.ok())
    return Misuse("--listen: " + std::string(address.status().message()));
  config.address = *std::move(address);
  if (!flags.http.empty()) {
    if (const std::string why = tls::WhyNotAddress(
            flags.http, {.may_be_socket = false, .may_be_any_port = true});
        !why.empty()) {
      return Misuse("--http: " + why);
    }
    config.http = *rpc::ParseListenAddress(flags.http);
  }
  config.tls = flags.tls;
  config.limits = flags.limits;
  config.limits.calls_at_once = flags.limits.calls_a_second * 4;
  if (const std::string why = WhyNotServed(config); !why.empty()) {
    return Misuse(why);
  }
  return {std::move(config), 0, ""};
}

}  // namespace

Launch ParseCommandLine(int argc, const char* const* argv,
                        const std::string& version) {
  CLI::App app(kAbout, "leadline-coordinator");
  Flags flags;
  Declare(app, flags);
  flags::AddCommon(app, version);
  flags::Reading reading = flags::Read(app, argc, argv);
  if (!reading.goes_on && !reading.prints_config) {
    return {std::nullopt, reading.exit_code, std::move(reading.text)};
  }
  Launch launch = ToLaunch(flags);
  if (launch.config && reading.prints_config) {
    launch.text = std::move(reading.text);
    launch.only_prints = true;
  }
  return launch;
}

}  // namespace leadline
