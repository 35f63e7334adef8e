#include "worker/agent/strict_json.h"

#include <utility>
#include <vector>

#include <absl/status/status.h>

namespace leadline::agent {
namespace {

using nlohmann::json;

/// Builds the value while it is read. The library's own builder would follow
/// any depth and let the last of two equal keys win.
class Builder final : public nlohmann::json_sax<json> {
 public:
  explicit Builder(size_t depth) : depth_(depth) {}

  bool null() override { return Add(nullptr); }
  bool boolean(bool value) override { return Add(value); }
  bool number_integer(number_integer_t value) override { return Add(value); }
  bool number_unsigned(number_unsigned_t value) override { return Add(value); }
  bool number_float(number_float_t value, const string_t&) override {
    return Add(value);
  }
  bool string(string_t& value) override { return Add(std::move(value)); }
  bool binary(binary_t&) override { return Refuse("binary"); }
  bool start_object(size_t) override { return Open(json::object()); }
  bool start_array(size_t) override { return Open(json::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(string_t& name) override {
    if (open_.back()->contains(name)) return Refuse("a key stands twice");
    key_ = std::move(name);
    return true;
  }

  bool parse_error(size_t position, const std::string&,
                   const json::exception&) override {
    return Refuse("not JSON at byte " + std::to_string(position));
  }

  json& value() { return value_; }
  const std::string& reason() const { return reason_; }

 private:
  bool Refuse(std::string reason) {
    reason_ = std::move(reason);
    return false;
  }

  json* Place(json value) {
    if (open_.empty()) {
      value_ = std::move(value);
      return &value_;
    }
    json& parent = *open_.back();
    if (parent.is_object()) return &(parent[key_] = std::move(value));
    parent.push_back(std::move(value));
    return &parent.back();
  }

  bool Add(json value) {
    Place(std::move(value));
    return true;
  }

  bool Open(json value) {
    if (open_.size() == depth_) return Refuse("nested too deeply");
    open_.push_back(Place(std::move(value)));
    return true;
  }

  bool Close() {
    open_.pop_back();
    return true;
  }

  size_t depth_;
  json value_;
  std::vector<json*> open_;
  std::string key_;
  std::string reason_;
};

}  // namespace

absl::StatusOr<json> ParseStrictJson(std::string_view text, size_t depth) {
  Builder builder(depth);
  if (!json::sax_parse(text.begin(), text.end(), &builder)) {
    return absl::InvalidArgumentError(builder.reason());
  }
  return std::move(builder.value());
}

}  // namespace leadline::agent
