#include "coordinator/rpc/convert.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <absl/status/status.h>

#include "common/utf8_prefix.h"
#include "coordinator/rpc/record_convert.h"
#include "proto/protocol_version.h"

namespace leadline::rpc {
namespace {

constexpr int kMostDevices = 4096;
constexpr size_t kLongestName = 128;
constexpr size_t kLongestAddress = 300;
constexpr int kMostRanks = 1024;
constexpr size_t kLongestMessage = 4000;

absl::Status Malformed(const std::string& what) {
  return absl::InvalidArgumentError("malformed message of an agent: " + what);
}

std::string Shortened(const std::string& text) {
  return std::string(Utf8Prefix(text, kLongestMessage));
}

std::string ShortName(const std::string& text) {
  return std::string(Utf8Prefix(text, kLongestName));
}

/// Node names and device ids stand in logs, reasons and the database as they
/// are.
bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c > ' ' && c < 0x7f; });
}

/// HOST:PORT, to go into a list with commas.
bool IsAddress(std::string_view text) {
  const size_t colon = text.rfind(':');
  return text.size() <= kLongestAddress && colon != std::string_view::npos &&
         colon > 0 && colon + 1 < text.size() &&
         std::ranges::all_of(text, [](unsigned char c) {
           return c > ' ' && c < 0x7f && c != ',' && c != '"' && c != '\\';
         });
}

absl::Status ReadDevices(const v1::Register& message,
                         std::vector<control::DeviceInfo>& devices) {
  if (message.devices_size() > kMostDevices) return Malformed("devices");
  std::set<std::string> ids;
  for (const v1::Device& device : message.devices()) {
    if (!IsName(device.id()) || !ids.insert(device.id()).second ||
        device.type().empty() || device.type().size() > kLongestName) {
      return Malformed("device \"" + ShortName(device.id()) + "\"");
    }
    // 0: not known. No device has more; sums of them must not run over.
    const int64_t memory =
        std::clamp<int64_t>(device.memory_bytes(), 0, int64_t{1} << 50);
    devices.push_back({device.id(), device.type(), memory});
  }
  return absl::OkStatus();
}

struct OrderWriter {
  v1::CoordinatorMessage& message;

  void operator()(const control::WelcomeOrder& order) const {
    v1::Registered& registered = *message.mutable_registered();
    registered.set_node(order.node);
    registered.set_lease_seconds(order.lease_seconds);
    registered.set_heartbeat_seconds(order.heartbeat_seconds);
    registered.set_protocol_version(kProtocol.newest);
    registered.set_least_protocol_version(kProtocol.least);
    for (const auto& [attempt, sequence] : order.acknowledged) {
      v1::RecordAck& ack = *registered.add_acknowledged();
      *ack.mutable_attempt() = ToProto(attempt);
      ack.set_sequence(sequence);
    }
    for (const AttemptKey& attempt : order.superseded) {
      *registered.add_superseded() = ToProto(attempt);
    }
  }
  void operator()(const control::StartOrder& order) const {
    v1::StartAttempt& start = *message.mutable_start();
    *start.mutable_attempt() = ToProto(order.attempt);
    for (const auto& [key, value] : order.settings) {
      (*start.mutable_settings())[key] = ToProto(value);
    }
    start.mutable_seeds()->Add(order.seeds.begin(), order.seeds.end());
    *start.mutable_dataset() = ToProto(order.dataset);
    for (const std::string& device : order.devices) start.add_devices(device);
    for (const TrialId& trial : order.trials) start.add_trials(ToText(trial));
    if (order.world_size < 2) return;
    start.set_world_size(order.world_size);
    start.set_first_rank(order.first_rank);
    start.set_ranks(order.ranks);
  }
  void operator()(const control::RendezvousOrder& order) const {
    v1::Rendezvous& rendezvous = *message.mutable_rendezvous();
    *rendezvous.mutable_attempt() = ToProto(order.attempt);
    for (const std::string& peer : order.peers) rendezvous.add_peers(peer);
  }
  void operator()(const control::StopOrder& order) const {
    v1::StopAttempt& stop = *message.mutable_stop();
    *stop.mutable_attempt() = ToProto(order.attempt);
    stop.set_reason(order.reason);
  }
  void operator()(const control::AckOrder& order) const {
    v1::RecordAck& ack = *message.mutable_ack();
    *ack.mutable_attempt() = ToProto(order.attempt);
    ack.set_sequence(order.sequence);
  }
  void operator()(const control::RenewalOrder& order) const {
    v1::Renewal& renewal = *message.mutable_renewal();
    renewal.set_number(order.number);
    for (const AttemptKey& attempt : order.attempts) {
      *renewal.add_attempts() = ToProto(attempt);
    }
  }
  void operator()(const control::EndedAckOrder& order) const {
    *message.mutable_ended_ack()->mutable_attempt() = ToProto(order.attempt);
  }
  void operator()(const control::CloseOrder&) const {}
};

}  // namespace

absl::StatusOr<AttemptKey> FromProto(const v1::Attempt& attempt) {
  const auto cohort = ParseCohortId(attempt.cohort());
  if (!cohort || attempt.number() < 1) {
    return Malformed("attempt \"" + ShortName(attempt.cohort()) + "\" " +
                     std::to_string(attempt.number()));
  }
  return AttemptKey{*cohort, attempt.number()};
}

absl::StatusOr<control::Command> FromProto(control::SessionId session,
                                           const v1::Register& message) {
  control::NodeRegistered command;
  command.session = session;
  if (!IsName(message.node())) return Malformed("name of the node");
  if (message.instance().empty()) return Malformed("no instance");
  command.node = message.node();
  command.instance = ShortName(message.instance());
  command.previous_instance = ShortName(message.previous_instance());
  command.agent = {ShortName(message.host()), ShortName(message.version()),
                   ShortName(message.commit()), message.protocol_version(),
                   message.pid()};
  command.takes_gangs = message.protocol_version() >= kProtocolOfRanks;
  absl::Status devices = ReadDevices(message, command.devices);
  if (!devices.ok()) return devices;
  for (const v1::LiveAttempt& held : message.attempts()) {
    const auto key = FromProto(held.attempt());
    if (!key.ok()) return key.status();
    command.attempts.push_back(
        {*key, {held.devices().begin(), held.devices().end()}});
  }
  return command;
}

absl::StatusOr<control::Command> FromProto(control::SessionId session,
                                           const v1::Heartbeat& message) {
  control::Heartbeat command{session, message.number(), {}};
  for (const v1::Attempt& attempt : message.attempts()) {
    const auto key = FromProto(attempt);
    if (!key.ok()) return key.status();
    command.attempts.push_back(*key);
  }
  return command;
}

absl::StatusOr<control::Command> FromProto(control::SessionId session,
                                           const v1::RecordBatch& message) {
  const auto key = FromProto(message.attempt());
  if (!key.ok()) return key.status();
  control::Records command{session, *key, {}};
  for (const v1::TrainerRecord& record : message.records()) {
    auto value = FromProto(record);
    if (!value.ok()) return value.status();
    command.records.push_back(*std::move(value));
  }
  return command;
}

absl::StatusOr<control::Command> FromProto(control::SessionId session,
                                           const v1::AttemptStarted& message) {
  const auto key = FromProto(message.attempt());
  if (!key.ok()) return key.status();
  control::AttemptStarted command{session,
                                  *key,
                                  Shortened(message.dataset_path()),
                                  ShortName(message.device()),
                                  message.pid(),
                                  {}};
  if (message.ranks_size() > kMostRanks) return Malformed("ranks");
  for (const v1::StartedRank& rank : message.ranks()) {
    if (rank.rank() < 0 || rank.rank() >= kMostRanks ||
        (!rank.address().empty() && !IsAddress(rank.address()))) {
      return Malformed("rank " + std::to_string(rank.rank()) + " at \"" +
                       ShortName(rank.address()) + "\"");
    }
    command.ranks.push_back({rank.rank(), rank.pid(), rank.address()});
  }
  return command;
}

absl::StatusOr<control::Command> FromProto(control::SessionId session,
                                           const v1::AttemptWaiting& message) {
  const auto key = FromProto(message.attempt());
  if (!key.ok()) return key.status();
  return control::AttemptWaiting{session, *key, ShortName(message.message()),
                                 message.ready()};
}

absl::StatusOr<control::Command> FromProto(control::SessionId session,
                                           const v1::AttemptRefused& message) {
  const auto key = FromProto(message.attempt());
  if (!key.ok()) return key.status();
  return control::AttemptRefused{
      session, *key,
      ParseFailureKind(message.kind()).value_or(FailureKind::kCrash),
      Shortened(message.message())};
}

absl::StatusOr<control::Command> FromProto(control::SessionId session,
                                           const v1::AttemptEnded& message) {
  const auto key = FromProto(message.attempt());
  if (!key.ok()) return key.status();
  return control::AttemptEnded{session,
                               *key,
                               message.last_sequence(),
                               message.exit_code(),
                               message.signal(),
                               ParseFailureKind(message.kind()),
                               Shortened(message.message())};
}

v1::Attempt ToProto(const AttemptKey& key) {
  v1::Attempt attempt;
  attempt.set_cohort(ToText(key.cohort));
  attempt.set_number(key.number);
  return attempt;
}

v1::SettingValue ToProto(const spec::Value& value) {
  v1::SettingValue message;
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    message.set_integer(*integer);
  } else if (const auto* number = std::get_if<double>(&value)) {
    message.set_number(*number);
  } else {
    message.set_word(std::get<std::string>(value));
  }
  return message;
}

v1::Dataset ToProto(const storage::DatasetRecord& dataset) {
  v1::Dataset message;
  message.set_name(dataset.name);
  message.set_path(dataset.path);
  message.set_content_hash(dataset.content_hash);
  message.set_tokenizer(dataset.tokenizer);
  message.set_train_fraction(dataset.split[0]);
  message.set_validation_fraction(dataset.split[1]);
  message.set_test_fraction(dataset.split[2]);
  message.set_vocabulary(dataset.vocabulary.value_or(0));
  return message;
}

v1::AttemptRank ToProto(const storage::RankRecord& rank, int64_t number) {
  v1::AttemptRank message;
  message.set_rank(number);
  message.set_node(rank.node);
  for (const std::string& device : rank.devices) message.add_devices(device);
  message.set_pid(rank.pid);
  return message;
}

v1::CoordinatorMessage ToProto(const control::Order& order) {
  v1::CoordinatorMessage message;
  std::visit(OrderWriter{message}, order);
  return message;
}

}  // namespace leadline::rpc
