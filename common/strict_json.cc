#include "common/strict_json.h"

#include <algorithm>
#include <unordered_set>

#include <nlohmann/json.hpp>

namespace leadline {
namespace {

// Builds the tree as the parser walks the text. nlohmann's own tree would drop
// doubled keys and the digits of numbers.
class TreeBuilder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit TreeBuilder(const JsonLimits& limits) : limits_(limits) {}

  Json Take() { return std::move(root_); }

  bool null() override { return Put(Json{}); }
  bool boolean(bool value) override {
    return Put(Json{.kind = Json::Kind::kBool, .boolean = value});
  }
  bool number_integer(number_integer_t value) override {
    return PutText(Json::Kind::kNumber, std::to_string(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return PutText(Json::Kind::kNumber, std::to_string(value));
  }
  bool number_float(number_float_t, const string_t& text) override {
    return PutText(Json::Kind::kNumber, text);
  }
  bool string(string_t& text) override {
    return PutText(Json::Kind::kText, text);
  }
  bool binary(binary_t&) override { Refuse("holds binary data"); }
  bool start_object(std::size_t) override { return Open(Json::Kind::kObject); }
  bool start_array(std::size_t) override { return Open(Json::Kind::kArray); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(string_t& name) override {
    // A walk over all members would let a text of many keys take for ever.
    if (!names_.back().insert(name).second) {
      Refuse("has the key \"" + name + "\" twice");
    }
    open_.back()->members.emplace_back(name, Json{});
    return true;
  }

  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::detail::exception& error) override {
    Refuse(std::string("is not JSON: ") + error.what());
  }

 private:
  [[noreturn]] void Refuse(const std::string& why) const {
    throw JsonError(std::string(limits_.what) + " " + why);
  }

  bool PutText(Json::Kind kind, std::string text) {
    Json value;
    value.kind = kind;
    value.text = std::move(text);
    return Put(std::move(value));
  }

  Json* Place(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& parent = *open_.back();
    if (parent.kind == Json::Kind::kObject) {
      parent.members.back().second = std::move(value);
      return &parent.members.back().second;
    }
    parent.items.push_back(std::move(value));
    return &parent.items.back();
  }

  bool Put(Json value) {
    Place(std::move(value));
    return true;
  }

  bool Open(Json::Kind kind) {
    if (open_.size() == limits_.levels) Refuse("is nested too deeply");
    Json value;
    value.kind = kind;
    // Stays where it is until it is closed: its parent grows only after that.
    open_.push_back(Place(std::move(value)));
    names_.emplace_back();
    return true;
  }

  bool Close() {
    open_.pop_back();
    names_.pop_back();
    return true;
  }

  const JsonLimits& limits_;
  Json root_;
  std::vector<Json*> open_;
  std::vector<std::unordered_set<std::string>> names_;  // of the open ones
};

}  // namespace

Json ParseStrictJson(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    throw JsonError(std::string(limits.what) + " is longer than " +
                    std::to_string(limits.bytes) + " bytes");
  }
  TreeBuilder builder(limits);
  nlohmann::json::sax_parse(text, &builder);
  return builder.Take();
}

const Json* FindMember(const Json& object, std::string_view name) {
  for (const auto& [key, value] : object.members) {
    if (key == name) return &value;
  }
  return nullptr;
}

}  // namespace leadline
