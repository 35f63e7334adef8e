#include "worker/agent/attempt_message.h"

#include <algorithm>
#include <utility>

#include <absl/status/status.h>

#include "common/sha256.h"

namespace leadline::agent {
namespace {

constexpr int kMostSeeds = 64;  // the largest cohort

absl::StatusOr<spec::GivenSettings> GivenFrom(const v1::StartAttempt& order) {
  spec::GivenSettings given;
  for (const auto& [key, value] : order.settings()) {
    switch (value.value_case()) {
      case v1::SettingValue::kInteger:
        given[key] = value.integer();
        break;
      case v1::SettingValue::kNumber:
        given[key] = value.number();
        break;
      case v1::SettingValue::kWord:
        given[key] = value.word();
        break;
      case v1::SettingValue::VALUE_NOT_SET:
        return absl::InvalidArgumentError("setting " + key + " has no value");
    }
  }
  return given;
}

}  // namespace

std::optional<AttemptKey> FromMessage(const v1::Attempt& attempt) {
  const auto cohort = ParseCohortId(attempt.cohort());
  if (!cohort || attempt.number() < 1) return std::nullopt;
  return AttemptKey{*cohort, attempt.number()};
}

v1::Attempt ToMessage(const AttemptKey& attempt) {
  v1::Attempt message;
  message.set_cohort(ToText(attempt.cohort));
  message.set_number(attempt.number);
  return message;
}

HoldRecord HoldFrom(const v1::StartAttempt& order) {
  HoldRecord hold;
  hold.devices.assign(order.devices().begin(), order.devices().end());
  hold.first_rank = order.first_rank();
  hold.ranks = std::max<int64_t>(order.ranks(), 1);
  hold.world_size = std::max<int64_t>(order.world_size(), 1);
  return hold;
}

namespace {

absl::Status CheckRanks(const v1::StartAttempt& order) {
  const HoldRecord hold = HoldFrom(order);
  if (hold.first_rank < 0 || hold.world_size > kMostRanks ||
      hold.ranks > hold.world_size ||
      hold.first_rank > hold.world_size - hold.ranks ||
      std::ssize(hold.devices) % hold.ranks != 0) {
    return absl::InvalidArgumentError(
        std::to_string(hold.ranks) + " ranks from " +
        std::to_string(hold.first_rank) + " on, of " +
        std::to_string(hold.world_size) + ", on " +
        std::to_string(hold.devices.size()) + " devices");
  }
  if (hold.world_size > 1 && !IsSha256(order.secret())) {
    return absl::InvalidArgumentError("several ranks and no secret of theirs");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<spec::TrainerConfig> ConfigFrom(const v1::StartAttempt& order) {
  if (absl::Status ranks = CheckRanks(order); !ranks.ok()) return ranks;
  if (order.seeds().empty() || order.seeds_size() > kMostSeeds) {
    return absl::InvalidArgumentError("an attempt trains 1 to 64 seeds");
  }
  absl::StatusOr<spec::GivenSettings> given = GivenFrom(order);
  if (!given.ok()) return given.status();
  spec::TrainerConfig config;
  config.settings = spec::Settings(*std::move(given));
  for (const char* key : {"depth", "threads"}) {
    if (!config.settings.Has(key) ||
        !std::holds_alternative<int64_t>(config.settings.values().at(key))) {
      return absl::InvalidArgumentError(std::string("setting ") + key +
                                        " is missing");
    }
  }
  config.seeds.assign(order.seeds().begin(), order.seeds().end());
  config.dataset.name = order.dataset().name();
  config.dataset.content_hash = order.dataset().content_hash();
  config.dataset.tokenizer = order.dataset().tokenizer();
  config.dataset.split = {order.dataset().train_fraction(),
                          order.dataset().validation_fraction(),
                          order.dataset().test_fraction()};
  if (order.dataset().vocabulary() > 0) {
    config.dataset.vocabulary = order.dataset().vocabulary();
  }
  return config;
}

}  // namespace leadline::agent
