#include "worker/trainer/strict_json.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace leadline::trainer {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20U;
constexpr size_t kMostLevels = 16;

// Builds the tree as the parser walks the text. nlohmann's own tree would drop
// doubled keys and the digits of numbers.
class TreeBuilder final : public nlohmann::json_sax<nlohmann::json> {
 public:
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
  bool binary(binary_t&) override {
    throw ConfigError("the configuration holds binary data");
  }
  bool start_object(std::size_t) override { return Open(Json::Kind::kObject); }
  bool start_array(std::size_t) override { return Open(Json::Kind::kArray); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(string_t& name) override {
    auto& members = open_.back()->members;
    const bool doubled =
        std::any_of(members.begin(), members.end(),
                    [&](const auto& member) { return member.first == name; });
    if (doubled) {
      throw ConfigError("the configuration has the key \"" + name + "\" twice");
    }
    members.emplace_back(name, Json{});
    return true;
  }

  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::detail::exception& error) override {
    throw ConfigError(std::string("the configuration is not JSON: ") +
                      error.what());
  }

 private:
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
    if (open_.size() == kMostLevels) {
      throw ConfigError("the configuration is nested too deeply");
    }
    Json value;
    value.kind = kind;
    // Stays where it is until it is closed: its parent grows only after that.
    open_.push_back(Place(std::move(value)));
    return true;
  }

  bool Close() {
    open_.pop_back();
    return true;
  }

  Json root_;
  std::vector<Json*> open_;
};

}  // namespace

Json ParseStrictJson(std::string_view text) {
  if (text.size() > kMostBytes) {
    throw ConfigError("the configuration is longer than 1 MiB");
  }
  TreeBuilder builder;
  nlohmann::json::sax_parse(text, &builder);
  return builder.Take();
}

}  // namespace leadline::trainer
