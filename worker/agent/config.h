// Every setting of the agent, from flags or a file of the same keys.

#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "logging/open_log.h"
#include "tls/client.h"
#include "tls/token.h"
#include "worker/agent/data_finder.h"
#include "worker/agent/spool.h"

namespace leadline::agent {

/// What of the machine stands for settings that are not given.
struct Surroundings {
  std::string host;               // its name
  std::filesystem::path trainer;  // the program beside the agent's
  /// CUDA_VISIBLE_DEVICES; null: not set.
  std::optional<std::string> visible_devices = {};
};

Surroundings ReadSurroundings();

struct Config {
  std::filesystem::path
      state;                // absolute; empty with `fetch` and a data folder
  std::string coordinator;  // HOST:PORT or unix:PATH
  tls::ClientFiles tls;
  tls::TokenSource token;
  std::string node;                            // name of this machine
  std::filesystem::path trainer;               // the program, absolute
  std::optional<int64_t> slots;                // of the CPU
  std::string devices;                         // GPUs; see ChosenGpus
  std::optional<std::string> visible_devices;  // CUDA_VISIBLE_DEVICES
  std::string nvml;                            // the library that lists GPUs
  DataPlaces data;
  SpoolPolicy spool;
  std::filesystem::path checkpoints;  // absolute; one folder a cohort in it
  std::chrono::seconds hang_after{600};
  std::filesystem::path log_file;  // empty: standard error
  LogOptions log;
  bool allow_network_file_system = false;
  /// Where ranks listen for those on other nodes; empty: this machine's address
  /// towards the coordinator.
  std::string collective_address;
  /// In which a collective operation of several ranks must end; null: the
  /// trainer's own.
  std::optional<int64_t> collective_timeout_s;
  bool is_private = false;  // end when the coordinator has gone

  // Other things to do than to serve:
  std::string fetch;                // this data set, no more
  bool only_end_leftovers = false;  // of an earlier agent, no more
};

/// What to do: go on with `config`, or end now with `exit_code` after printing
/// `text`.
struct Launch {
  std::optional<Config> config;
  int exit_code = 0;
  std::string text;
  /// Prints `text` and ends instead of serving, if it could serve.
  bool only_prints = false;
};

/// Reads and checks the command line. Nothing is printed here, and nothing of
/// the machine is looked at but the working folder.
Launch ParseCommandLine(int argc, const char* const* argv,
                        const std::string& version,
                        const Surroundings& surroundings);

}  // namespace leadline::agent
