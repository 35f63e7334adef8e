#include "storage/sqlite/reader_pool.h"

#include <utility>

namespace leadline::storage::sqlite {
namespace {

constexpr int kMostConnections = 4;
constexpr std::chrono::milliseconds kLongestRead{30'000};

}  // namespace

std::unique_ptr<Connection> ReaderPool::Take() {
  std::unique_lock lock(mutex_);
  returned_.wait(lock,
                 [&] { return !idle_.empty() || open_ < kMostConnections; });
  if (idle_.empty()) {
    auto connection =
        std::make_unique<Connection>(path_, Connection::Mode::kRead);
    ++open_;
    return connection;
  }
  auto connection = std::move(idle_.back());
  idle_.pop_back();
  return connection;
}

void ReaderPool::Return(std::unique_ptr<Connection> connection) {
  {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(connection));
  }
  returned_.notify_one();
}

ReaderPool::Loan::Loan(ReaderPool& pool)
    : pool_(pool), connection_(pool.Take()) {
  pool_.gate_->Enter();
  try {
    connection_->LimitTime(kLongestRead);
    connection_->Execute("BEGIN");
  } catch (...) {
    pool_.gate_->Leave();
    pool_.Return(std::move(connection_));
    throw;
  }
}

ReaderPool::Loan::~Loan() {
  connection_->Rollback();
  pool_.gate_->Leave();
  pool_.Return(std::move(connection_));
}

}  // namespace leadline::storage::sqlite
