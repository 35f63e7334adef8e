// Keeps the write-ahead log short under readers that never stop.

#pragma once

#include <memory>

#include "storage/sqlite/connection.h"
#include "storage/sqlite/read_gate.h"

namespace leadline::storage::sqlite {

/// After each commit the log is copied into the database as far as readers
/// allow. Where it has grown past its limit nonetheless, reads of ours wait for
/// a moment (at most kPatience) while it is emptied. A program outside that
/// holds a read open keeps it from that: the log then grows, and is tried again
/// each time it has grown by its limit. Owned by one thread at a time.
class LogKeeper {
 public:
  /// Takes the place of SQLite's own checkpoints on the connection, which must
  /// outlive this.
  LogKeeper(Connection& connection, std::shared_ptr<ReadGate> gate);
  ~LogKeeper();
  LogKeeper(const LogKeeper&) = delete;
  LogKeeper& operator=(const LogKeeper&) = delete;

  /// Call it outside a transaction. What fails is left for the next time.
  void AfterCommit() noexcept;

 private:
  bool Empty();

  Connection& connection_;
  std::shared_ptr<ReadGate> gate_;
  int pages_ = 0;  // of the log
  int next_try_;   // pages
};

}  // namespace leadline::storage::sqlite
