// One JSON object on one line, fields in the order they are added.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leadline::trainer {

/// Shortest decimal that reads back bit for bit as a double, always with a
/// point or an exponent; "nan", "inf" and "-inf" as texts.
std::string JsonNumber(double value);

/// Up to 64 numbers as an array; more as {"shape": [...], "f32": base64 of
/// little-endian floats}.
std::string JsonNumbers(std::span<const double> values);

/// The same for figures: six significant digits, so that what is stored of them
/// is short.
std::string JsonFigures(std::span<const double> values);

/// Owned by one thread.
class JsonLine {
 public:
  JsonLine& Text(std::string_view key, std::string_view text);
  JsonLine& Integer(std::string_view key, int64_t value);
  JsonLine& Number(std::string_view key, double value);
  JsonLine& Null(std::string_view key);
  JsonLine& Numbers(std::string_view key, std::span<const double> values);
  JsonLine& Integers(std::string_view key, std::span<const int64_t> values);
  /// `json` is a whole JSON value.
  JsonLine& Value(std::string_view key, std::string_view json);

  /// The object without an end of line.
  std::string Finish() const { return line_ + '}'; }

 private:
  std::string line_ = "{";
};

}  // namespace leadline::trainer
