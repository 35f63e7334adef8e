// Every setting of the coordinator, from flags or a file of the same keys.

#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "coordinator/access/door.h"
#include "coordinator/control/policy.h"
#include "coordinator/rpc/listen_address.h"
#include "logging/open_log.h"
#include "tls/server.h"

namespace leadline {

struct Config {
  std::filesystem::path state;  // the folder it owns
  std::string listen;           // as given; empty: STATE/coordinator.sock
  rpc::ListenAddress address;
  /// Of HTTP; null: none is served.
  std::optional<rpc::ListenAddress> http;
  tls::ServerFiles tls;
  access::Limits limits;
  bool allow_network_file_system = false;
  bool is_private = false;  // end with the last client, keep a local agent
  control::Policy policy;
  /// Days after which curves, routing and window losses of an archived sweep
  /// are removed; 0: never. Results stay.
  int64_t keep_archived_days = 0;
  LogOptions log;
};

/// What to do: run with `config`, or end now with `exit_code` after printing
/// `text`.
struct Launch {
  std::optional<Config> config;
  int exit_code = 0;
  std::string text;
  /// Prints `text` and ends instead of serving, if it could serve.
  bool only_prints = false;
};

/// Reads and checks the command line. Nothing is printed here.
Launch ParseCommandLine(int argc, const char* const* argv,
                        const std::string& version);

}  // namespace leadline
