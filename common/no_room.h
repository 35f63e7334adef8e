// Which of the system's errors say that a disk is full.

#pragma once

#include <cerrno>

namespace leadline {

/// True of the errno of a write or of making a file that found no room: the
/// disk, a quota, or a file that may not grow.
inline bool IsNoRoom(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

}  // namespace leadline
