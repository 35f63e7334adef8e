#include "model/spec/settings.h"

#include <stdexcept>

namespace leadline::spec {
namespace {

template <typename T>
const T& Get(const GivenSettings& values, std::string_view key) {
  const auto found = values.find(key);
  if (found == values.end()) {
    throw std::logic_error("no setting " + std::string(key));
  }
  if (const T* value = std::get_if<T>(&found->second)) return *value;
  throw std::logic_error("setting " + std::string(key) + " is " +
                         ToText(found->second) + ", of another type");
}

}  // namespace

int64_t Settings::Integer(std::string_view key) const {
  return Get<int64_t>(values_, key);
}

double Settings::Number(std::string_view key) const {
  return Get<double>(values_, key);
}

const std::string& Settings::Word(std::string_view key) const {
  return Get<std::string>(values_, key);
}

bool Settings::IsOn(std::string_view key) const { return Word(key) == "on"; }

std::optional<double> Settings::NumberUnlessWord(std::string_view key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) Word(key);  // throws, naming the key
  if (const auto* number = std::get_if<double>(&found->second)) return *number;
  if (const auto* integer = std::get_if<int64_t>(&found->second)) {
    return static_cast<double>(*integer);
  }
  return {};
}

}  // namespace leadline::spec
