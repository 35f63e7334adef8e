// Files that hold a secret: a key, a token.

#pragma once

#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

namespace leadline::tls {

struct SmallFile {
  std::string text;
  /// Nobody but its owner may read or change it; a group may read.
  bool is_private = false;
};

/// The whole text of a regular file of at most 1 MiB. `what` names it in
/// messages: "the key". InvalidArgument if it cannot be read.
absl::StatusOr<SmallFile> ReadSmallFile(const std::string& what,
                                        const std::string& path);

/// InvalidArgument, saying what to do, unless the file is private. To be asked
/// once the text is known for a secret: the mode of another file, named by
/// mistake, is well as it is.
absl::Status CheckPrivate(const std::string& what, const std::string& path,
                          const SmallFile& file);

/// What a private file holds as its only word; line ends around it are left
/// out. InvalidArgument if it holds none or several, or is not private.
absl::StatusOr<std::string> ReadSecretWord(const std::string& what,
                                           const std::string& path);

}  // namespace leadline::tls
