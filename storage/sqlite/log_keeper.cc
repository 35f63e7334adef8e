#include "storage/sqlite/log_keeper.h"

#include <chrono>
#include <utility>

#include <sqlite3.h>

namespace leadline::storage::sqlite {
namespace {

constexpr int kUsualPages = 1000;  // 4 MB, as SQLite has it
constexpr int kMostPages = 4000;   // 16 MB
constexpr std::chrono::milliseconds kPatience{100};

int NotePages(void* pages, sqlite3*, const char*, int count) {
  *static_cast<int*>(pages) = count;
  return SQLITE_OK;
}

}  // namespace

LogKeeper::LogKeeper(Connection& connection, std::shared_ptr<ReadGate> gate)
    : connection_(connection), gate_(std::move(gate)), next_try_(kMostPages) {
  sqlite3_wal_hook(connection_.database().getHandle(), NotePages, &pages_);
}

LogKeeper::~LogKeeper() {
  sqlite3_wal_hook(connection_.database().getHandle(), nullptr, nullptr);
}

void LogKeeper::AfterCommit() noexcept {
  if (pages_ < kUsualPages) return;
  int left = 0;
  int copied = 0;
  sqlite3_wal_checkpoint_v2(connection_.database().getHandle(), "main",
                            SQLITE_CHECKPOINT_PASSIVE, &left, &copied);
  if (pages_ < next_try_) {
    // It began anew by itself.
    if (pages_ < kMostPages) next_try_ = kMostPages;
    return;
  }
  next_try_ = Empty() ? kMostPages : pages_ + kMostPages;
}

bool LogKeeper::Empty() {
  sqlite3* const database = connection_.database().getHandle();
  // Readers outside are not waited for: a commit waits for this.
  sqlite3_busy_timeout(database, 0);
  const bool alone = gate_->Shut(kPatience);
  const int code = alone ? sqlite3_wal_checkpoint_v2(database, "main",
                                                     SQLITE_CHECKPOINT_TRUNCATE,
                                                     nullptr, nullptr)
                         : SQLITE_BUSY;
  gate_->Open();
  sqlite3_busy_timeout(database, kBusyTimeoutMs);
  if (code != SQLITE_OK) return false;
  pages_ = 0;
  return true;
}

}  // namespace leadline::storage::sqlite
