// Which coordinator a command talks to.

#pragma once

#include <filesystem>
#include <string>

#include <absl/status/statusor.h>

namespace leadline::cli {

/// What the command line said; empty where it said nothing.
struct PlaceOptions {
  std::string coordinator;  // --coordinator
  std::string state;        // --state
};

/// The variables that matter, empty where unset.
struct PlaceVariables {
  std::string coordinator;  // LEADLINE_COORDINATOR
  std::string state;        // LEADLINE_STATE
  std::string xdg_state;    // XDG_STATE_HOME
  std::string home;         // HOME
};

/// A coordinator elsewhere, or the private one of a state folder.
struct Place {
  std::string coordinator;      // "host:port" or "unix:PATH"; empty if local
  std::filesystem::path state;  // absolute; empty unless local

  bool is_local() const { return coordinator.empty(); }
};

PlaceVariables ReadPlaceVariables();

/// The command line stands above the environment, a named coordinator above a
/// state folder. InvalidArgument if both were named, or an address is none.
absl::StatusOr<Place> ChoosePlace(const PlaceOptions& options,
                                  const PlaceVariables& variables);

}  // namespace leadline::cli
