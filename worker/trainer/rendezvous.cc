#include "worker/trainer/rendezvous.h"

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "common/sha256.h"
#include "model/spec/json_text.h"
#include "worker/collective/nccl_communicator.h"
#include "worker/collective/ring/collective_error.h"
#include "worker/collective/tcp_communicator.h"
#include "worker/trainer/control_thread.h"

namespace leadline::trainer {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr milliseconds kBetweenLooks{10};

seconds Limit(const std::optional<int64_t>& given, seconds otherwise) {
  return given ? seconds(*given) : otherwise;
}

std::string OwnAddress(const spec::TrainerConfig& config) {
  if (!config.peers.empty()) {
    return config.peers[static_cast<size_t>(config.rank)];
  }
  const bool bare_v6 = config.listen.find(':') != std::string::npos &&
                       !config.listen.starts_with('[');
  return (bare_v6 ? "[" + config.listen + "]" : config.listen) + ":0";
}

void WriteWhole(const std::filesystem::path& path, const std::string& text) {
  const std::filesystem::path draft = path.string() + ".new";
  const Descriptor file(
      open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (file.number() < 0 || write(file.number(), text.data(), text.size()) !=
                               static_cast<ssize_t>(text.size())) {
    throw std::system_error(errno, std::generic_category(),
                            "cannot write " + draft.string());
  }
  std::filesystem::rename(draft, path);
}

}  // namespace

std::string CommonHash(const spec::TrainerConfig& config) {
  std::string text;
  for (const auto& [key, value] : config.settings.values()) {
    // Where a file lies may differ from node to node.
    if (key == "init_from_path") continue;
    text += spec::JsonText(key) + ':' + spec::JsonValue(value) + '\n';
  }
  for (const int64_t seed : config.seeds) text += std::to_string(seed) + '\n';
  text += config.dataset.tokenizer + '\n';
  for (const double part : config.dataset.split) {
    text += spec::JsonValue(spec::Value(part)) + '\n';
  }
  text += config.device.substr(0, config.device.find(':'));
  return Sha256Of(text);
}

Rendezvous::Rendezvous(const spec::TrainerConfig& config, DeviceAccess devices)
    : config_(config),
      devices_(std::move(devices)),
      begin_(steady_clock::now()) {
  if (config.world_size == 1) return;
  meeting_ = std::make_unique<collective::Meeting>(OwnAddress(config));
  if (config.peers.empty()) {
    WriteWhole(std::filesystem::path(*config.folder) / kAddressFile,
               meeting_->address() + '\n');
  }
}

Rendezvous::~Rendezvous() = default;

std::vector<std::string> Rendezvous::AwaitPeers(
    const RunControl& control) const {
  if (!config_.peers.empty()) return config_.peers;
  const seconds limit = Limit(config_.setup_timeout_s, collective::kSetUpLimit);
  for (;;) {
    control.Heed();
    std::vector<std::string> peers = control.Peers();
    if (!peers.empty()) return peers;
    if (steady_clock::now() - begin_ > limit) {
      throw collective::SetUpError("nobody said within " +
                                   std::to_string(limit.count()) +
                                   " s where the other ranks are");
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

std::unique_ptr<collective::Communicator> Rendezvous::Meet(
    const RunControl& control) {
  if (!meeting_) return collective::MakeSoloCommunicator();
  const std::vector<std::string> peers = AwaitPeers(control);
  const auto limit = std::chrono::ceil<milliseconds>(
      begin_ + Limit(config_.setup_timeout_s, collective::kSetUpLimit) -
      steady_clock::now());
  auto ring = meeting_->Join(
      peers,
      {.introduction = {.size = config_.world_size,
                        .rank = config_.rank,
                        .settings_hash = CommonHash(config_),
                        .data_hash = config_.dataset.content_hash},
       .secret = config_.secret,
       .limit = std::max(limit, milliseconds(1)),
       .operation_limit = Limit(config_.timeout_s, collective::kOperationLimit),
       .breathe = [&] { control.Heed(); },
       .waits = [&] { return !control.Waits().empty(); }});
  meeting_.reset();
  if (devices_.open_queue) return JoinDevices(std::move(ring), control);
  return collective::MakeTcpCommunicator(std::move(ring), config_.rank,
                                         config_.world_size);
}

std::unique_ptr<collective::Communicator> Rendezvous::JoinDevices(
    std::unique_ptr<collective::Ring> ring, const RunControl& control) const {
  std::shared_ptr<collective::DeviceQueue> queue;
  try {
    queue = devices_.open_queue();
  } catch (const std::exception& error) {
    ring->Abort(error.what());
    throw;
  }
  return collective::MakeNcclCommunicator(
      std::move(ring), std::move(queue),
      {.rank = config_.rank,
       .size = config_.world_size,
       .set_up_limit = Limit(config_.setup_timeout_s, collective::kSetUpLimit),
       .limit = Limit(config_.timeout_s, collective::kOperationLimit),
       .breathe = [&control] { control.Heed(); },
       .waits = [&control] { return !control.Waits().empty(); },
       .last_resort = devices_.last_resort},
      devices_.nccl);
}

}  // namespace leadline::trainer
