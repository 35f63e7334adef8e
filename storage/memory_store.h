// Store and reader over the record in memory.

#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/memory_record.h"
#include "storage/store.h"
#include "storage/store_reader.h"

namespace leadline::storage {

/// Thread-safe.
class MemoryStore final : public Store {
 public:
  explicit MemoryStore(std::shared_ptr<MemoryRecord> record)
      : record_(std::move(record)) {}

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

 private:
  std::shared_ptr<MemoryRecord> record_;  // with the reader
};

/// Thread-safe.
class MemoryReader final : public StoreReader {
 public:
  explicit MemoryReader(std::shared_ptr<MemoryRecord> record)
      : record_(std::move(record)) {}

  absl::StatusOr<StoreSize> Size() const override { return StoreSize{}; }
  absl::StatusOr<BackupFacts> BackUp(
      const std::filesystem::path& target) const override;
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
  SweepRow RowOf(const SweepRecord& sweep) const;
  TrialRow RowOf(const TrialRecord& trial) const;
  CellValues ValuesOf(const CellRecord& cell, const std::string& metric) const;
  bool Fits(const SweepRecord& sweep, const SweepFilter& filter) const;
  void Add(const TrialId& trial, Contents& contents) const;
  absl::Status FindParent(SweepId sweep,
                          const std::optional<CellId>& cell) const;
  /// True if an attempt of the cohort failed so.
  bool HasFailed(CohortId cohort, FailureKind kind) const;

  std::shared_ptr<MemoryRecord> record_;  // with the store
};

}  // namespace leadline::storage
