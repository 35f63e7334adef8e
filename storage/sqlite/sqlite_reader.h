// The reader on SQLite: read-only connections of its own, so that it neither
// waits for the writer nor delays it.

#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/sqlite/integrity.h"
#include "storage/sqlite/reader_pool.h"
#include "storage/store_reader.h"

namespace leadline::storage::sqlite {

/// Thread-safe.
class SqliteReader final : public StoreReader {
 public:
  SqliteReader(const std::filesystem::path& path,
               std::shared_ptr<ReadGate> gate)
      : path_(path), pool_(path, std::move(gate)) {}

  /// Looks for damage in the background for as long as this lives.
  void CheckAll(std::function<void(const absl::Status&)> checked) {
    check_.emplace(path_, std::move(checked));
  }

  absl::StatusOr<StoreSize> Size() const override;
  absl::StatusOr<BackupFacts> BackUp(
      const std::filesystem::path& target) const override {
    return CopyDatabase(path_, target);
  }

  absl::StatusOr<std::vector<SweepRow>> ListSweeps(
      std::optional<SweepId> before, int64_t limit) const override;
  absl::StatusOr<int64_t> CountSweeps() const override;
  absl::StatusOr<std::array<int64_t, kTrialStates.size()>> CountTrials()
      const override;
  absl::StatusOr<std::vector<SweepRow>> FindSweeps(
      const SweepFilter& filter, std::optional<SweepId> before,
      int64_t limit) const override;
  absl::StatusOr<int64_t> CountSweeps(const SweepFilter& filter) const override;
  absl::StatusOr<Contents> CountContents(SweepId sweep) const override;
  absl::StatusOr<Contents> CountContents(TrialId trial) const override;
  absl::StatusOr<SweepRow> GetSweep(SweepId sweep) const override;
  absl::StatusOr<std::vector<SweepRecord>> FindByName(
      const std::string& prefix, int64_t limit) const override;
  absl::StatusOr<std::vector<CellValues>> ListCells(
      SweepId sweep, const std::string& metric, int64_t after,
      int64_t limit) const override;
  absl::StatusOr<std::vector<TrialRow>> ListTrials(
      SweepId sweep, std::optional<CellId> cell, std::optional<TrialId> after,
      int64_t limit) const override;
  absl::StatusOr<TrialRow> GetTrial(TrialId trial) const override;
  absl::StatusOr<std::vector<TrialRecord>> CohortTrials(
      CohortId cohort) const override;
  absl::StatusOr<std::vector<AttemptRecord>> ListAttempts(
      CohortId cohort) const override;
  absl::StatusOr<std::optional<ResultRecord>> FindResult(
      TrialId trial) const override;
  absl::StatusOr<std::vector<Point>> Curve(TrialId trial,
                                           const std::string& metric,
                                           int64_t after_step,
                                           int64_t limit) const override;
  absl::StatusOr<std::optional<RoutingRecord>> FindRouting(
      TrialId trial, std::optional<int64_t> step) const override;
  absl::StatusOr<std::optional<WindowLosses>> FindWindows(
      TrialId trial, const std::string& split,
      std::optional<int64_t> step) const override;
  absl::StatusOr<std::vector<OrphanRecord>> ListOrphans(
      AttemptKey attempt, int64_t after_sequence, int64_t limit) const override;
  absl::StatusOr<std::map<int64_t, int64_t>> CohortOrphans(
      CohortId cohort) const override;
  absl::StatusOr<OrphanCount> SweepOrphans(SweepId sweep) const override;
  absl::StatusOr<std::vector<SweepId>> RemovedAmong(
      const std::vector<SweepId>& asked) const override;
  absl::StatusOr<std::vector<FailureCount>> CountFailures(
      SweepId sweep) const override;
  absl::StatusOr<std::vector<EndedGroup>> ListEnded(
      SweepId sweep, int64_t limit) const override;
  absl::StatusOr<std::vector<TrialRow>> ListTrialsFailed(
      FailureKind kind, SweepId sweep, std::optional<CellId> cell,
      std::optional<TrialId> after, int64_t limit) const override;
  absl::StatusOr<int64_t> CountTrialsFailed(
      FailureKind kind, SweepId sweep,
      std::optional<CellId> cell) const override;

 private:
  /// What `read(connection)` returns, inside one read transaction.
  template <typename Read>
  auto WithConnection(const std::string& doing, const Read& read) const {
    return Run(doing, [&] {
      ReaderPool::Loan loan(pool_);
      return read(loan.connection());
    });
  }

  const std::filesystem::path path_;
  mutable ReaderPool pool_;
  std::optional<BackgroundCheck> check_;
};

}  // namespace leadline::storage::sqlite
