#include "worker/trainer/json_line.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "model/spec/json_text.h"

namespace leadline::trainer {
namespace {

constexpr size_t kLongestArray = 64;

std::string Base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) {
      group = group << 8U |
              (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (size_t k = 0; k < 4; ++k) {
      text += k <= count ? kDigits[group >> (18 - 6 * k) & 63U] : '=';
    }
  }
  return text;
}

std::string PackedFloats(std::span<const double> values) {
  static_assert(sizeof(float) == 4);
  std::string bytes;
  bytes.reserve(4 * values.size());
  for (const double value : values) {
    const auto number = static_cast<float>(value);
    uint32_t bits = 0;
    std::memcpy(&bits, &number, sizeof(bits));
    for (int k = 0; k < 4; ++k) {
      bytes += static_cast<char>(bits >> (8 * k) & 255U);
    }
  }
  return "{\"shape\":[" + std::to_string(values.size()) + "],\"f32\":\"" +
         Base64(bytes) + "\"}";
}

/// The double next to the decimal of six significant digits.
double Rounded(double value) {
  if (!std::isfinite(value)) return value;
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::general, 6)
                       .ptr;
  std::from_chars(text.data(), end, value);
  return value;
}

}  // namespace

std::string JsonNumber(double value) {
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
  std::array<char, 32> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  // A bare "-0" or "3" would be read as an integer, the first without its sign.
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string JsonNumbers(std::span<const double> values) {
  if (values.size() > kLongestArray) return PackedFloats(values);
  std::string json = "[";
  for (const double value : values) {
    if (json.size() > 1) json += ',';
    json += JsonNumber(value);
  }
  return json + ']';
}

std::string JsonFigures(std::span<const double> values) {
  std::vector<double> rounded;
  for (const double value : values) rounded.push_back(Rounded(value));
  return JsonNumbers(rounded);
}

JsonLine& JsonLine::Value(std::string_view key, std::string_view json) {
  if (line_.size() > 1) line_ += ',';
  line_ += spec::JsonText(key);
  line_ += ':';
  line_ += json;
  return *this;
}

JsonLine& JsonLine::Text(std::string_view key, std::string_view text) {
  return Value(key, spec::JsonText(text));
}

JsonLine& JsonLine::Integer(std::string_view key, int64_t value) {
  return Value(key, std::to_string(value));
}

JsonLine& JsonLine::Number(std::string_view key, double value) {
  return Value(key, JsonNumber(value));
}

JsonLine& JsonLine::Null(std::string_view key) { return Value(key, "null"); }

JsonLine& JsonLine::Numbers(std::string_view key,
                            std::span<const double> values) {
  return Value(key, JsonNumbers(values));
}

JsonLine& JsonLine::Integers(std::string_view key,
                             std::span<const int64_t> values) {
  std::string json = "[";
  for (const int64_t value : values) {
    if (json.size() > 1) json += ',';
    json += std::to_string(value);
  }
  return Value(key, json + ']');
}

}  // namespace leadline::trainer
