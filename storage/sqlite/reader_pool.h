// A few read-only connections, lent to one thread each.

#pragma once

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "storage/sqlite/connection.h"
#include "storage/sqlite/read_gate.h"

namespace leadline::storage::sqlite {

/// Thread-safe. Opens connections as they are needed, up to a few; who finds
/// all of them lent waits.
class ReaderPool {
 public:
  ReaderPool(std::filesystem::path path, std::shared_ptr<ReadGate> gate)
      : path_(std::move(path)), gate_(std::move(gate)) {}

  /// A connection inside a read transaction, so that all of a call sees one
  /// state. Reads fail half a minute after it began: what is read stays in the
  /// log until it ends. Throws SQLite::Exception.
  class Loan {
   public:
    explicit Loan(ReaderPool& pool);
    ~Loan();
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    Connection& connection() { return *connection_; }

   private:
    ReaderPool& pool_;
    std::unique_ptr<Connection> connection_;
  };

 private:
  std::unique_ptr<Connection> Take();
  void Return(std::unique_ptr<Connection> connection);

  const std::filesystem::path path_;
  const std::shared_ptr<ReadGate> gate_;
  std::mutex mutex_;  // over all below
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Connection>> idle_;
  int open_ = 0;
};

}  // namespace leadline::storage::sqlite
