// Where a client's token comes from: one order for every program.

#pragma once

#include <string>

#include <absl/status/statusor.h>

namespace leadline::tls {

/// Variables of the environment.
inline constexpr char kTokenVariable[] = "LEADLINE_TOKEN";
inline constexpr char kTokenFileVariable[] = "LEADLINE_TOKEN_FILE";

/// One of them at most is not empty.
struct TokenSource {
  std::string token;
  std::string file;  // that holds it
};

/// The file that was named on the command line or in a settings file; else what
/// LEADLINE_TOKEN holds; else the file that LEADLINE_TOKEN_FILE names. An empty
/// variable is as if it were not set.
TokenSource FindToken(const std::string& named_file);

/// Empty if there is none. InvalidArgument, saying what to do, if the file
/// cannot be used.
absl::StatusOr<std::string> ReadToken(const TokenSource& source);

}  // namespace leadline::tls
