// A disk below SQLite that refuses when told: the n-th time it is asked to
// write, or any other of the things that may fail.

#pragma once

#include <atomic>
#include <optional>

#include <sqlite3.h>

namespace leadline::test {

/// What a commit asks of the disk.
enum class DiskCall { kWrite, kSync, kTruncate, kLock, kShmMap };

/// The default file system of SQLite while it lives: everything goes on to the
/// real one but the calls it refuses. One at a time.
class FaultyVfs {
 public:
  FaultyVfs();
  ~FaultyVfs();
  FaultyVfs(const FaultyVfs&) = delete;
  FaultyVfs& operator=(const FaultyVfs&) = delete;

  /// From now on the `number`-th call of that kind (from 0), and with `lasting`
  /// all after it, fails with `code`.
  static void Refuse(DiskCall call, int number, int code, bool lasting = false);

  /// Ends that; true if a call was refused since.
  static bool Relent();
};

}  // namespace leadline::test
