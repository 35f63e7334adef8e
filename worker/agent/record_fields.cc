#include "worker/agent/record_fields.h"

#include <cstring>
#include <limits>
#include <utility>

#include <absl/strings/escaping.h>

#include "common/float_decimal.h"

namespace leadline::agent {
namespace {

using nlohmann::json;

std::optional<int64_t> ReadInteger(const json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return std::nullopt;
    }
    return static_cast<int64_t>(number);
  }
  if (!value.is_number_integer()) return std::nullopt;
  return value.get<int64_t>();
}

bool AppendNumbers(const json& value, std::vector<double>& numbers) {
  if (!value.is_array()) {
    const auto number = ReadNumber(value);
    if (number) numbers.push_back(*number);
    return number.has_value();
  }
  for (const json& element : value) {
    if (!AppendNumbers(element, numbers)) return false;
  }
  return true;
}

/// The product of the shape, null if it is none or has more than `most`
/// elements.
std::optional<size_t> CountElements(const json& shape, size_t most) {
  if (!shape.is_array()) return std::nullopt;
  size_t count = 1;
  for (const json& extent : shape) {
    const auto size = ReadInteger(extent);
    if (!size || *size < 0) return std::nullopt;
    if (*size > 0 && count > most / static_cast<size_t>(*size)) {
      return std::nullopt;
    }
    count *= static_cast<size_t>(*size);
  }
  return count;
}

std::optional<std::vector<double>> ReadPacked(const json& value) {
  if (value.size() != 2 || !value.contains("shape") || !value.contains("f32") ||
      !value["f32"].is_string()) {
    return std::nullopt;
  }
  std::string bytes;
  if (!absl::Base64Unescape(value["f32"].get_ref<const std::string&>(),
                            &bytes)) {
    return std::nullopt;
  }
  const size_t there = bytes.size() / sizeof(float);
  const auto count = CountElements(value["shape"], there);
  if (!count || *count * sizeof(float) != bytes.size()) return std::nullopt;
  std::vector<double> numbers(*count);
  for (size_t i = 0; i < *count; ++i) {
    float number = 0;
    std::memcpy(&number, bytes.data() + i * sizeof(float), sizeof(float));
    numbers[i] = DecimalOf(number);
  }
  return numbers;
}

}  // namespace

std::optional<double> ReadNumber(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  const auto& word = value.get_ref<const std::string&>();
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (word == "inf") return std::numeric_limits<double>::infinity();
  if (word == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

std::optional<std::vector<double>> ReadNumbers(const json& value) {
  if (value.is_object()) return ReadPacked(value);
  if (!value.is_array()) return std::nullopt;
  std::vector<double> numbers;
  if (!AppendNumbers(value, numbers)) return std::nullopt;
  return numbers;
}

void RecordFields::Fault(std::string_view name, std::string_view expected) {
  if (!fault_.empty()) return;
  fault_ = std::string(name) + ": expected " + std::string(expected);
}

const json* RecordFields::Find(std::string_view name) {
  const auto found = object_.find(name);
  if (found == object_.end() || found->is_null()) return nullptr;
  return &*found;
}

int64_t RecordFields::Integer(std::string_view name) {
  const auto value = IntegerIfThere(name);
  if (!value) Fault(name, "an integer");
  return value.value_or(0);
}

double RecordFields::Number(std::string_view name) {
  const auto value = NumberIfThere(name);
  if (!value) Fault(name, "a number");
  return value.value_or(0.0);
}

std::string RecordFields::Text(std::string_view name) {
  const json* value = Find(name);
  if (value && value->is_string()) return value->get<std::string>();
  Fault(name, "a text");
  return {};
}

std::string RecordFields::TextIfThere(std::string_view name) {
  return Find(name) == nullptr ? std::string() : Text(name);
}

std::vector<int64_t> RecordFields::Integers(std::string_view name) {
  std::vector<int64_t> numbers;
  const json* value = Find(name);
  if (value && value->is_array()) {
    for (const json& element : *value) {
      const auto number = ReadInteger(element);
      if (!number) break;
      numbers.push_back(*number);
    }
    if (numbers.size() == value->size()) return numbers;
  }
  Fault(name, "an array of integers");
  return {};
}

std::vector<double> RecordFields::Numbers(std::string_view name) {
  const json* value = Find(name);
  auto numbers = value ? ReadNumbers(*value) : std::nullopt;
  if (!numbers) Fault(name, "an array of numbers");
  return std::move(numbers).value_or(std::vector<double>());
}

const json& RecordFields::Object(std::string_view name) {
  const json* value = Find(name);
  if (value && value->is_object()) return *value;
  Fault(name, "an object");
  static const json kEmpty = json::object();
  return kEmpty;
}

std::optional<double> RecordFields::NumberIfThere(std::string_view name) {
  const json* value = Find(name);
  if (!value) return std::nullopt;
  const auto number = ReadNumber(*value);
  if (!number) Fault(name, "a number");
  return number;
}

std::optional<int64_t> RecordFields::IntegerIfThere(std::string_view name) {
  const json* value = Find(name);
  if (!value) return std::nullopt;
  const auto number = ReadInteger(*value);
  if (!number) Fault(name, "an integer");
  return number;
}

}  // namespace leadline::agent
