#include "worker/agent/readiness.h"

#include <cerrno>
#include <cstring>

#include <unistd.h>

#include "common/folder_owner.h"
#include "common/network_file_system.h"
#include "common/writable_folder.h"
#include "errors/error_code.h"
#include "worker/agent/nvml_prober.h"

namespace leadline::agent {
namespace {

absl::Status StateUnusable(const std::string& why) {
  return WithError(absl::FailedPreconditionError(why),
                   ErrorCode::kStateUnusable);
}

absl::Status CheckStateFolder(const Config& config) {
  if (const std::string why = WhyNotForState(config.state);
      !why.empty() && !config.allow_network_file_system) {
    return StateUnusable(why);
  }
  const std::string why = WhyNotInto(config.state);
  if (why.empty()) return absl::OkStatus();
  return StateUnusable("cannot use the state folder " + config.state.string() +
                       " (" + why +
                       "); it must belong to the user who runs this, or choose "
                       "another with --state");
}

absl::Status CheckLogFolder(const Config& config) {
  const std::filesystem::path folder = config.log_file.parent_path();
  // Starting makes the state folder, and no other.
  if (config.log_file.empty() || folder == config.state) {
    return absl::OkStatus();
  }
  std::error_code error;
  const std::string why = std::filesystem::exists(folder, error)
                              ? WhyNotInto(folder)
                              : "there is no folder " + folder.string();
  if (why.empty()) return absl::OkStatus();
  return StateUnusable("cannot write the log " + config.log_file.string() +
                       " (" + why + "); choose another with --log-file");
}

absl::StatusOr<Offer> LookAtDevices(const Config& config) {
  OfferWishes wishes;
  wishes.slots = config.slots;
  wishes.cores = CountCores();
  wishes.devices = config.devices;
  wishes.visible = config.visible_devices;
  std::error_code error;
  wishes.trains_on_gpus = std::filesystem::exists(
      std::filesystem::weakly_canonical(config.trainer, error).parent_path() /
          "libleadline_cuda.so",
      error);
  NvmlProber prober(config.nvml);
  auto offer = MakeOffer(wishes, prober);
  if (offer.ok()) return offer;
  return absl::InvalidArgumentError(offer.status().message());
}

}  // namespace

SessionOptions ToSessionOptions(const Config& config) {
  SessionOptions options;
  options.coordinator = config.coordinator;
  options.tls = config.tls;
  options.token = config.token;
  return options;
}

absl::StatusOr<Offer> CheckReady(const Config& config) {
  const std::string whose = WhyNotAsRoot(config.state, geteuid());
  if (!whose.empty()) {
    return StateUnusable("cannot use the state folder: " + whose);
  }
  if (!config.fetch.empty()) return Offer{};
  if (access(config.trainer.c_str(), X_OK) != 0) {
    return absl::InvalidArgumentError(
        "no trainer at " + config.trainer.string() + " that may be run (" +
        std::strerror(errno) + "); name one with --trainer");
  }
  if (absl::Status state = CheckStateFolder(config); !state.ok()) return state;
  if (absl::Status log = CheckLogFolder(config); !log.ok()) return log;
  const absl::Status usable = CheckUsable(ToSessionOptions(config));
  if (!usable.ok()) return absl::InvalidArgumentError(usable.message());
  if (config.only_end_leftovers) return Offer{};
  return LookAtDevices(config);
}

}  // namespace leadline::agent
