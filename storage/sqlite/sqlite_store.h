// The store on SQLite: one connection, one transaction a commit.

#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/access_store.h"
#include "storage/sqlite/change_writer.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/log_keeper.h"
#include "storage/store.h"

namespace leadline::storage::sqlite {

/// Thread-safe.
class SqliteStore final : public Store, public AccessStore {
 public:
  /// Takes a connection whose schema is up to date.
  explicit SqliteStore(
      std::unique_ptr<Connection> connection,
      std::shared_ptr<ReadGate> gate = std::make_shared<ReadGate>())
      : connection_(std::move(connection)),
        writer_(*connection_),
        log_(*connection_, std::move(gate)) {}

  absl::Status Commit(std::span<const Change> changes) override;
  PointCounts CountPoints() const override;
  absl::StatusOr<std::vector<SweepContents>> LoadUnfinished() const override;
  absl::StatusOr<std::vector<NodeRecord>> LoadNodes() const override;
  absl::StatusOr<SweepContents> LoadSweep(SweepId sweep) const override;
  absl::StatusOr<SweepContents> LoadCells(SweepId sweep, int64_t first,
                                          int64_t count) const override;
  absl::StatusOr<std::optional<SweepRecord>> FindSweep(
      SweepId sweep) const override;
  absl::StatusOr<bool> Purge(const PurgeLimits& limits) override;
  absl::StatusOr<SweepId> NextSweepId() const override;
  absl::StatusOr<std::optional<SweepId>> FindEqualSweep(
      const std::string& name,
      const std::string& canonical_hash) const override;
  absl::StatusOr<std::optional<std::string>> FindAnswer(
      const std::string& request_id) const override;

  absl::StatusOr<TokenRecord> AddToken(TokenRecord token) override;
  absl::StatusOr<TokenRecord> RevokeToken(int64_t id, WallTime at) override;
  absl::StatusOr<std::vector<TokenRecord>> ListTokens() const override;
  absl::Status AddAudit(std::span<const AuditRecord> records) override;
  absl::StatusOr<std::vector<AuditRecord>> ListAudit(
      std::optional<int64_t> before, int64_t limit) const override;

 private:
  template <typename Work>
  auto InTransaction(const std::string& doing, const Work& work)
      -> decltype(work());
  absl::Status WriteAll(std::span<const Change> changes);

  mutable std::mutex mutex_;  // over all below
  std::unique_ptr<Connection> connection_;
  ChangeWriter writer_;
  LogKeeper log_;
};

}  // namespace leadline::storage::sqlite
