#include "cli/place.h"

#include <cstdlib>

#include <absl/strings/numbers.h>
#include <fmt/format.h>

namespace leadline::cli {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool IsAddress(const std::string& text) {
  if (text.starts_with("unix:")) return text.size() > 5;
  const size_t colon = text.rfind(':');
  int port = 0;
  return colon != std::string::npos && colon > 0 &&
         absl::SimpleAtoi(text.substr(colon + 1), &port) && port >= 1 &&
         port <= 65535;
}

absl::StatusOr<Place> Remote(const std::string& coordinator) {
  if (IsAddress(coordinator)) return Place{coordinator, {}};
  return absl::InvalidArgumentError(fmt::format(
      "'{}' is no coordinator: expected HOST:PORT or unix:PATH", coordinator));
}

absl::StatusOr<Place> Local(const std::filesystem::path& state) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(state, error);
  if (!error) return Place{"", absolute.lexically_normal()};
  return absl::InvalidArgumentError(fmt::format(
      "cannot use the state folder '{}': {}", state.string(), error.message()));
}

}  // namespace

PlaceVariables ReadPlaceVariables() {
  return {Variable("LEADLINE_COORDINATOR"), Variable("LEADLINE_STATE"),
          Variable("XDG_STATE_HOME"), Variable("HOME")};
}

absl::StatusOr<Place> ChoosePlace(const PlaceOptions& options,
                                  const PlaceVariables& variables) {
  if (!options.coordinator.empty() && !options.state.empty()) {
    return absl::InvalidArgumentError(
        "--coordinator and --state exclude each other: a state folder is that "
        "of a private coordinator");
  }
  if (!options.coordinator.empty()) return Remote(options.coordinator);
  if (!options.state.empty()) return Local(options.state);
  if (!variables.coordinator.empty()) return Remote(variables.coordinator);
  if (!variables.state.empty()) return Local(variables.state);
  // The base directory specification has relative paths ignored.
  if (variables.xdg_state.starts_with('/')) {
    return Local(std::filesystem::path(variables.xdg_state) / "leadline");
  }
  if (!variables.home.empty()) {
    return Local(std::filesystem::path(variables.home) /
                 ".local/state/leadline");
  }
  return absl::InvalidArgumentError(
      "no state folder: HOME is not set, give --state DIR");
}

}  // namespace leadline::cli
