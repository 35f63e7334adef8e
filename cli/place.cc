#include "cli/place.h"

#include <cstdlib>

#include <fmt/format.h>

#include "tls/host_port.h"

namespace leadline::cli {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

absl::StatusOr<Place> Remote(const std::string& source,
                             const std::string& coordinator) {
  const std::string why = tls::WhyNotAddress(coordinator);
  if (why.empty()) return Place{coordinator, {}};
  return absl::InvalidArgumentError(source + ": " + why);
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
  if (!options.coordinator.empty())
    return Remote("--coordinator", options.coordinator);
  if (!options.state.empty()) return Local(options.state);
  if (!variables.coordinator.empty())
    return Remote("LEADLINE_COORDINATOR", variables.coordinator);
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
