#include "model/spec/json_text.h"

namespace leadline::spec {

std::string JsonText(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string json = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      json += "\\u00";
      json += kDigits[byte >> 4];
      json += kDigits[byte & 15];
    } else {
      json += c;
    }
  }
  return json + '"';
}

std::string JsonValue(const Value& value) {
  return std::holds_alternative<std::string>(value)
             ? JsonText(std::get<std::string>(value))
             : ToText(value);
}

}  // namespace leadline::spec
