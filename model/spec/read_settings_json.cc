#include <charconv>

#include "model/spec/identity.h"

namespace leadline::spec {
namespace {

/// Reads the one form SettingsJson writes: a flat object. Every step returns
/// false where the text goes wrong.
class Reading {
 public:
  explicit Reading(std::string_view text) : rest_(text), size_(text.size()) {}

  bool Object(GivenSettings& values) {
    if (!Take('{')) return false;
    if (Take('}')) return rest_.empty();
    do {
      std::string key;
      Value value;
      if (!Text(key) || !Take(':') || !ReadValue(value)) return false;
      if (!values.try_emplace(std::move(key), std::move(value)).second) {
        return false;
      }
    } while (Take(','));
    return Take('}') && rest_.empty();
  }

  size_t offset() const { return size_ - rest_.size(); }

 private:
  bool Take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool Text(std::string& text) {
    if (!Take('"')) return false;
    while (!rest_.empty() && !rest_.starts_with('"')) {
      if (static_cast<unsigned char>(rest_.front()) < 0x20) return false;
      if (!Take('\\')) {
        text += rest_.front();
        rest_.remove_prefix(1);
      } else if (!Escape(text)) {
        return false;
      }
    }
    return Take('"');
  }

  bool Escape(std::string& text) {
    if (rest_.starts_with('"') || rest_.starts_with('\\')) {
      text += rest_.front();
      rest_.remove_prefix(1);
      return true;
    }
    if (!rest_.starts_with("u00") || rest_.size() < 5) return false;
    int byte = 0;
    const auto [end, error] =
        std::from_chars(rest_.data() + 3, rest_.data() + 5, byte, 16);
    if (error != std::errc() || end != rest_.data() + 5) return false;
    if (byte < 0 || byte > 0x7f) return false;
    text += static_cast<char>(byte);
    rest_.remove_prefix(5);
    return true;
  }

  bool ReadValue(Value& value) {
    if (rest_.starts_with('"')) return Text(value.emplace<std::string>());
    const std::string_view number =
        rest_.substr(0, rest_.find_first_not_of("0123456789+-.eE"));
    const bool has_point =
        number.find_first_of(".eE") != std::string_view::npos;
    const bool read = has_point ? Number(number, value.emplace<double>())
                                : Number(number, value.emplace<int64_t>());
    // Only the one form that is written reads back.
    if (!read || ToText(value) != number) return false;
    rest_.remove_prefix(number.size());
    return true;
  }

  template <typename T>
  static bool Number(std::string_view text, T& number) {
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
  }

  std::string_view rest_;
  size_t size_;
};

}  // namespace

std::variant<Settings, std::string> ReadSettingsJson(std::string_view json) {
  GivenSettings values;
  Reading reading(json);
  if (!reading.Object(values)) {
    return "the settings are not what was written, from byte " +
           std::to_string(reading.offset());
  }
  return Settings(std::move(values));
}

}  // namespace leadline::spec
