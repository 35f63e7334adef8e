// Which program this is.

#pragma once

#include <string_view>

namespace leadline {

/// "0.1.0".
std::string_view BuildVersion();

/// What `git describe` said of the tree that was built: a commit, with "-dirty"
/// where the tree differed from it; "unknown" outside a repository.
std::string_view BuildCommit();

}  // namespace leadline
