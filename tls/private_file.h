// Files that hold a secret: a key, a token.

#pragma once

#include <string>

#include <absl/status/statusor.h>

namespace leadline::tls {

/// Who may have a file's text besides its owner.
enum class Privacy { kOwnerAndGroup, kAnybody };

/// The whole text of a regular file of at most 1 MiB. `what` names it in
/// messages: "the key". InvalidArgument, saying what to do, if it cannot be
/// read or more may read or write it than `privacy` allows.
absl::StatusOr<std::string> ReadSmallFile(const std::string& what,
                                          const std::string& path,
                                          Privacy privacy);

/// What such a file holds as its only word; line ends around it are left out.
/// InvalidArgument also if it holds none or several.
absl::StatusOr<std::string> ReadSecretWord(const std::string& what,
                                           const std::string& path);

}  // namespace leadline::tls
