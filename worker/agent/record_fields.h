// Typed access to the fields of one event. The first fault is kept, and later
// reads give neutral values, so that a conversion reads straight through.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace leadline::agent {

/// Reads one JSON object that must outlive it. Owned by one thread.
class RecordFields {
 public:
  explicit RecordFields(const nlohmann::json& object) : object_(object) {}

  /// Each demands the field with that type and range.
  int64_t Integer(std::string_view name);
  double Number(std::string_view name);
  std::string Text(std::string_view name);
  std::vector<int64_t> Integers(std::string_view name);
  std::vector<double> Numbers(std::string_view name);
  const nlohmann::json& Object(std::string_view name);

  /// A text; a missing or null one is empty.
  std::string TextIfThere(std::string_view name);

  /// Null if the field is missing or null; a wrong type is a fault all the
  /// same.
  std::optional<double> NumberIfThere(std::string_view name);
  std::optional<int64_t> IntegerIfThere(std::string_view name);

  /// Empty while everything was as demanded: "step: an integer was expected".
  const std::string& fault() const { return fault_; }
  void Fault(std::string_view name, std::string_view expected);

 private:
  const nlohmann::json* Find(std::string_view name);

  const nlohmann::json& object_;
  std::string fault_;
};

/// A number, or one of the words "nan", "inf" and "-inf".
std::optional<double> ReadNumber(const nlohmann::json& value);

/// All numbers of a value in order: nested arrays one after the other, or
/// {"shape": [...], "f32": base64}, each as its shortest decimal. Null if it is
/// neither, or the shape does not fit what is there.
std::optional<std::vector<double>> ReadNumbers(const nlohmann::json& value);

}  // namespace leadline::agent
