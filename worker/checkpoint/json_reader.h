// Typed reading of a strict JSON tree; what does not fit is a BadCheckpoint.

#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/strict_json.h"
#include "worker/checkpoint/bad_checkpoint.h"

namespace leadline::checkpoint {

/// One object whose members are asked for by name.
class JsonReader {
 public:
  /// `where` names the object in messages: "replicas". The JSON outlives it.
  JsonReader(const Json& json, std::string where)
      : json_(json), where_(std::move(where)) {
    if (json.kind != Json::Kind::kObject) Refuse("is no object");
  }

  const Json& Member(std::string_view key, Json::Kind kind) const {
    const Json* member = FindMember(json_, key);
    if (member == nullptr) Refuse("lacks " + std::string(key));
    if (member->kind != kind) {
      Refuse(std::string(key) + " is of the wrong kind");
    }
    return *member;
  }

  /// Null where the member is null.
  const Json* MemberOrNull(std::string_view key, Json::Kind kind) const {
    const Json* member = FindMember(json_, key);
    if (member != nullptr && member->kind == Json::Kind::kNull) return nullptr;
    return &Member(key, kind);
  }

  const std::string& Text(std::string_view key) const {
    return Member(key, Json::Kind::kText).text;
  }

  int64_t Integer(std::string_view key, int64_t least, int64_t most) const {
    return Number<int64_t>(key, Member(key, Json::Kind::kNumber).text, least,
                           most);
  }

  /// Of an array of integers or one of numbers.
  template <typename Value>
  Value Number(std::string_view key, const std::string& text, Value least,
               Value most) const {
    Value value{};
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value);
    if (result.ec != std::errc{} || result.ptr != end || value < least ||
        value > most) {
      Refuse(std::string(key) + " is " + text.substr(0, 40) +
             ", which is out of range");
    }
    return value;
  }

  [[noreturn]] void Refuse(const std::string& what) const {
    throw BadCheckpoint(where_ + ": " + what);
  }

 private:
  const Json& json_;
  std::string where_;
};

}  // namespace leadline::checkpoint
