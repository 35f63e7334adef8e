#include "worker/agent/config.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "flags/command_line.h"
#include "flags/values.h"
#include "tls/host_port.h"
#include "worker/dataset/fetch/download.h"

namespace leadline::agent {
namespace {

constexpr char kAbout[] =
    "The agent: trains on this machine what a coordinator orders.";
constexpr int64_t kMega = 1'000'000;
constexpr size_t kLongestName = 128;  // as coordinators take them

struct Flags {
  std::string state;
  std::string coordinator;
  tls::ClientFiles tls;
  std::string token_file;
  tls::TokenSource token;  // see FillAccess
  std::string node;
  std::string trainer;
  std::string devices;
  std::string nvml = "libnvidia-ml.so.1";
  std::string data;
  std::string data_url;
  std::string samples;
  std::string checkpoints;
  std::string collective_address;
  int64_t collective_timeout_s = 0;
  std::string fetch;
  int64_t slots = 0;
  int64_t hang_after_s = 600;
  int64_t least_free_mb = 500;
  int64_t keep_days = 30;
  int64_t keep_mb = 20'000;
  std::string log_file;
  LogFlags log;
  bool allow_network = false;
  bool is_private = false;
  bool only_end_leftovers = false;
};

void DeclareWork(CLI::App& app, Flags& flags) {
  app.add_option("--state", flags.state,
                 "folder of this agent: data, attempts, logs; required")
      ->type_name("DIR");
  app.add_option("--coordinator", flags.coordinator,
                 "HOST:PORT or unix:PATH of the coordinator; required")
      ->type_name("ADDRESS");
  app.add_option("--node", flags.node, "name of this machine; default: its own")
      ->type_name("NAME");
  app.add_option("--slots", flags.slots,
                 "CPU slots; default: one a core, and none beside GPUs")
      ->check(flags::WholeNumber(1, 1024));
  app.add_option("--devices", flags.devices,
                 "GPUs to offer, by index or UUID: 0,1; none; default: all "
                 "that CUDA_VISIBLE_DEVICES shows")
      ->type_name("LIST");
  app.add_option("--nvml", flags.nvml, "library of the driver that lists GPUs")
      ->type_name("FILE")
      ->capture_default_str();
  app.add_option("--collective-address", flags.collective_address,
                 "address of this machine where the ranks of an attempt on "
                 "several nodes reach those here; default: that of its "
                 "connection to the coordinator")
      ->type_name("HOST");
  app.add_option("--collective-timeout", flags.collective_timeout_s,
                 "seconds in which an operation of several ranks must end; "
                 "default: 30")
      ->check(flags::WholeNumber(1, 86'400));
  app.add_option("--trainer", flags.trainer,
                 "the trainer program; default: leadline-trainer beside this")
      ->type_name("FILE");
  app.add_flag("--allow-network-filesystem", flags.allow_network,
               "take a state folder on NFS and the like")
      ->envname("LEADLINE_ALLOW_NETWORK_FILESYSTEM");
  app.add_flag("--private", flags.is_private,
               "end when the coordinator has gone");
}

void DeclareAccess(CLI::App& app, Flags& flags) {
  app.add_option("--tls-ca", flags.tls.ca,
                 "authorities (PEM) by which the coordinator is believed "
                 "(LEADLINE_TLS_CA); default: those the system trusts")
      ->type_name("FILE");
  app.add_option("--tls-cert", flags.tls.certificate,
                 "certificate (PEM) to show to a coordinator that asks for one "
                 "(LEADLINE_TLS_CERT)")
      ->type_name("FILE");
  app.add_option("--tls-key", flags.tls.key,
                 "its private key, PEM (LEADLINE_TLS_KEY)")
      ->type_name("FILE");
  app.add_option("--token-file", flags.token_file,
                 "file that holds this agent's token; default: the token in "
                 "LEADLINE_TOKEN, else the file that LEADLINE_TOKEN_FILE names")
      ->type_name("FILE");
}

/// Takes from the environment what was not given, by the rules that all
/// clients have, and lets the options show it.
void FillAccess(CLI::App& app, Flags& flags) {
  flags.tls = tls::WithVariables(flags.tls);
  flags.token = tls::FindToken(flags.token_file);
  const std::pair<const char*, const std::string&> files[] = {
      {"--tls-ca", flags.tls.ca},
      {"--tls-cert", flags.tls.certificate},
      {"--tls-key", flags.tls.key},
      {"--token-file", flags.token.file}};
  for (const auto& [name, file] : files) {
    app.get_option(name)->default_str(file);
  }
}

void DeclareData(CLI::App& app, Flags& flags) {
  app.add_option("--data", flags.data,
                 "folder of the registered data sets, which agents of one "
                 "machine may share; default: data in the state folder")
      ->type_name("DIR")
      ->envname("LEADLINE_DATA");
  app.add_option("--data-url", flags.data_url,
                 "http://HOST/DIR of a mirror that has the files of data sets "
                 "under their names; default: where each comes from")
      ->type_name("URL")
      ->envname("LEADLINE_DATA_URL");
  app.add_option("--samples", flags.samples,
                 "folder of the text samples, where there is one")
      ->type_name("DIR")
      ->envname("LEADLINE_SAMPLES");
  app.add_option("--checkpoints", flags.checkpoints,
                 "folder of checkpoints; agents that share it go on from each "
                 "other's; default: checkpoints in the state folder")
      ->type_name("DIR");
  app.add_option("--fetch", flags.fetch,
                 "fetch that data set (text8, tinystories, tinystories_v2) "
                 "into the data folder, no more; needs no coordinator")
      ->option_text("NAME")
      ->configurable(false);
}

void DeclareLimits(CLI::App& app, Flags& flags) {
  app.add_option("--hang-after", flags.hang_after_s,
                 "seconds without a record or processor time after which a "
                 "trainer is taken to hang; at least ten times its own longest "
                 "wait, and sixty where it is busy")
      ->check(flags::WholeNumber(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--least-free-mb", flags.least_free_mb,
                 "free space below which no attempt starts")
      ->check(flags::WholeNumber(0, 1'000'000'000))
      ->capture_default_str();
  app.add_option("--keep-days", flags.keep_days,
                 "how long event files and logs of attempts are kept whose end "
                 "the coordinator has on disk; checkpoints always are")
      ->check(flags::WholeNumber(0, 36'500))
      ->capture_default_str();
  app.add_option("--keep-mb", flags.keep_mb,
                 "how much of them is kept; the oldest go first")
      ->check(flags::WholeNumber(0, 1'000'000'000))
      ->capture_default_str();
  app.add_flag("--end-leftovers", flags.only_end_leftovers,
               "end the trainers that an earlier agent left behind, no more; "
               "without it they are adopted")
      ->configurable(false);
}

void DeclareLog(CLI::App& app, Flags& flags) {
  app.add_option("--log-file", flags.log_file,
                 "file the log goes to, kept below 8 MiB with three older ones "
                 "beside it; default: standard error")
      ->type_name("FILE");
  AddLogFlags(app, flags.log);
}

std::filesystem::path Absolute(const std::filesystem::path& path) {
  if (path.empty()) return path;
  std::error_code error;
  return std::filesystem::absolute(path, error).lexically_normal();
}

bool IsName(const std::string& text) {
  return !text.empty() && text.size() <= kLongestName &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c > ' ' && c < 0x7f; });
}

std::string WhyNot(const Flags& flags) {
  if (flags.state.empty() && (flags.fetch.empty() || flags.data.empty())) {
    return "--state is required: a folder for this agent alone";
  }
  if (const auto why = dataset::WhyNotBase(flags.data_url); !why.empty()) {
    return "--data-url: " + why;
  }
  if (!flags.fetch.empty()) return "";
  if (flags.coordinator.empty()) {
    return "--coordinator is required: HOST:PORT or unix:PATH";
  }
  if (const auto why = tls::WhyNotAddress(flags.coordinator); !why.empty()) {
    return "--coordinator: " + why;
  }
  if (!flags.collective_address.empty() &&
      (!IsName(flags.collective_address) ||
       flags.collective_address.find_first_of(",\"\\") != std::string::npos)) {
    return "--collective-address must be a host name or an address";
  }
  if (!IsName(flags.node)) {
    return "--node must be 1 to 128 printable ASCII characters without blanks";
  }
  return "";
}

Config ToConfig(const Flags& flags) {
  Config config;
  config.state = Absolute(flags.state);
  config.coordinator = flags.coordinator;
  config.tls = {Absolute(flags.tls.ca), Absolute(flags.tls.certificate),
                Absolute(flags.tls.key)};
  config.token = {flags.token.token, Absolute(flags.token.file)};
  config.node = flags.node;
  config.trainer = Absolute(flags.trainer);
  if (flags.slots > 0) config.slots = flags.slots;
  config.devices = flags.devices;
  config.nvml = flags.nvml;
  const std::filesystem::path data =
      flags.data.empty() ? config.state / "data" : Absolute(flags.data);
  config.data = {data.string(), flags.samples, flags.data_url};
  config.spool = {flags.least_free_mb * kMega,
                  std::chrono::hours(24 * flags.keep_days),
                  flags.keep_mb * kMega};
  config.checkpoints = flags.checkpoints.empty() ? config.state / "checkpoints"
                                                 : Absolute(flags.checkpoints);
  config.hang_after = std::chrono::seconds(flags.hang_after_s);
  config.log_file = Absolute(flags.log_file);
  config.log = ToLogOptions(flags.log);
  config.allow_network_file_system = flags.allow_network;
  config.collective_address = flags.collective_address;
  if (flags.collective_timeout_s > 0) {
    config.collective_timeout_s = flags.collective_timeout_s;
  }
  config.is_private = flags.is_private;
  config.fetch = flags.fetch;
  config.only_end_leftovers = flags.only_end_leftovers;
  return config;
}

}  // namespace

Surroundings ReadSurroundings() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return {name[0] == '\0' ? "localhost" : name,
          self.parent_path() / "leadline-trainer",
          visible ? std::optional<std::string>(visible) : std::nullopt};
}

Launch ParseCommandLine(int argc, const char* const* argv,
                        const std::string& version,
                        const Surroundings& surroundings) {
  CLI::App app(kAbout, "leadline-agent");
  Flags flags;
  flags.node = surroundings.host;
  flags.trainer = surroundings.trainer.string();
  DeclareWork(app, flags);
  DeclareAccess(app, flags);
  DeclareData(app, flags);
  DeclareLimits(app, flags);
  DeclareLog(app, flags);
  for (const char* key : {"--node", "--trainer"}) {
    app.get_option(key)->capture_default_str();
  }
  flags::AddCommon(app, version);
  flags::Reading reading =
      flags::Read(app, argc, argv, [&] { FillAccess(app, flags); });
  if (reading.goes_on || reading.prints_config) {
    if (const std::string why = WhyNot(flags); !why.empty()) {
      reading = flags::Misuse(app, why);
    }
  }
  if (!reading.goes_on && !reading.prints_config) {
    return {std::nullopt, reading.exit_code, std::move(reading.text)};
  }
  Launch launch{ToConfig(flags), 0, std::move(reading.text),
                reading.prints_config};
  launch.config->visible_devices = surroundings.visible_devices;
  return launch;
}

}  // namespace leadline::agent
