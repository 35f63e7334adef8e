#include "worker/trainer/orders.h"

#include <charconv>
#include <utility>

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

// Empty unless it is an array of texts.
std::vector<std::string> Texts(const Json* json) {
  std::vector<std::string> texts;
  if (json == nullptr || json->kind != Json::Kind::kArray) return texts;
  for (const Json& item : json->items) {
    if (item.kind != Json::Kind::kText) return {};
    texts.push_back(item.text);
  }
  return texts;
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
  if (name->text == "peers") {
    auto peers = Texts(FindMember(json, "peers"));
    if (peers.empty()) return {};
    return Order{Order::Kind::kPeers, 0, as_of_ms, std::move(peers)};
  }
  const auto replica = Integer(FindMember(json, "replica"));
  if (name->text == "drop_replica" && replica) {
    return Order{Order::Kind::kDropReplica, *replica, as_of_ms};
  }
  return {};
}

}  // namespace leadline::trainer
