#include "worker/trainer/orders.h"

#include <charconv>

#include "worker/trainer/strict_json.h"

namespace leadline::trainer {
namespace {

std::optional<int64_t> Integer(const Json* json) {
  if (json == nullptr || json->kind != Json::Kind::kNumber) return {};
  int64_t value = 0;
  const char* end = json->text.data() + json->text.size();
  const auto result = std::from_chars(json->text.data(), end, value);
  if (result.ec != std::errc{} || result.ptr != end) return {};
  return value;
}

}  // namespace

std::optional<Order> ParseOrder(std::string_view line) {
  Json json;
  try {
    json = ParseStrictJson(line);
  } catch (const ConfigError&) {
    return {};
  }
  const Json* name = FindMember(json, "order");
  if (name == nullptr || name->kind != Json::Kind::kText) return {};
  const auto as_of_ms = Integer(FindMember(json, "as_of_ms"));
  if (name->text == "renew") return Order{Order::Kind::kRenew, 0, as_of_ms};
  if (name->text == "stop") return Order{Order::Kind::kStop, 0, as_of_ms};
  const auto replica = Integer(FindMember(json, "replica"));
  if (name->text == "drop_replica" && replica) {
    return Order{Order::Kind::kDropReplica, *replica, as_of_ms};
  }
  return {};
}

}  // namespace leadline::trainer
