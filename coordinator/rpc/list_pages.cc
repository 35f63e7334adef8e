#include "coordinator/rpc/list_pages.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include <absl/status/status.h>

#include "common/utf8_prefix.h"
#include "coordinator/rpc/resolve.h"
#include "coordinator/rpc/results_convert.h"
#include "coordinator/rpc/trial_details.h"

namespace leadline::rpc {
namespace {

// A message may have 1 MiB; the last row of a page may go over this.
constexpr size_t kPageBytes = size_t{512} << 10;
constexpr size_t kMostReplyBytes = size_t{1000} << 10;
constexpr int64_t kMostRows = 10'000;
constexpr int64_t kMostPoints = 40'000;

absl::StatusOr<int64_t> LimitOf(int64_t asked, int64_t usual, int64_t most) {
  if (asked < 0) {
    return absl::InvalidArgumentError("a limit is 0 or more, not " +
                                      std::to_string(asked));
  }
  return std::min(asked == 0 ? usual : asked, most);
}

int64_t TrialsOf(const storage::SweepRow& row) {
  int64_t trials = 0;
  for (const int64_t count : row.trials) trials += count;
  return trials;
}

struct TrialRange {
  SweepId sweep;
  std::optional<CellId> cell;
};

absl::StatusOr<TrialRange> RangeOf(const storage::StoreReader& reader,
                                   const std::string& target) {
  if (const auto cell = ParseCellId(target)) {
    return TrialRange{cell->sweep, *cell};
  }
  if (ParseTrialId(target)) {
    return absl::InvalidArgumentError("\"" + target +
                                      "\" is a trial; name a sweep or a cell");
  }
  const auto sweep = ResolveSweep(reader, target);
  if (!sweep.ok()) return sweep.status();
  return TrialRange{*sweep, std::nullopt};
}

/// Null where none is asked for; InvalidArgument where it is none of ours.
absl::StatusOr<std::optional<FailureKind>> KindOf(const std::string& asked) {
  using Kind = std::optional<FailureKind>;
  if (asked.empty()) return Kind();
  if (const auto kind = ParseFailureKind(asked)) return Kind(*kind);
  std::string all;
  for (const FailureKind kind : kFailureKinds) {
    all += (all.empty() ? "" : ", ") + std::string(Name(kind));
  }
  return absl::InvalidArgumentError("no failure kind \"" +
                                    std::string(Utf8Prefix(asked, 100)) +
                                    "\"; choose one of " + all);
}

absl::StatusOr<storage::SweepFilter::Archived> ArchivedOf(
    const std::string& asked) {
  using Archived = storage::SweepFilter::Archived;
  if (asked.empty()) return Archived::kLeftOut;
  if (asked == "only") return Archived::kAlone;
  if (asked == "too") return Archived::kToo;
  return absl::InvalidArgumentError("archived is only, too or nothing");
}

absl::StatusOr<storage::SweepFilter> FilterOf(
    const v1::ListSweepsRequest& request) {
  storage::SweepFilter filter;
  const auto kind = KindOf(request.failed_kind());
  if (!kind.ok()) return kind.status();
  filter.failed_kind = *kind;
  for (const std::string& word : request.states()) {
    const auto state = ParseSweepState(word);
    if (!state) {
      return absl::InvalidArgumentError(
          "no state \"" + std::string(Utf8Prefix(word, 100)) +
          "\"; choose active, paused, complete or cancelled");
    }
    filter.states.push_back(*state);
  }
  filter.tags = {request.tags().begin(), request.tags().end()};
  filter.user = request.user();
  filter.name = request.name();
  constexpr int64_t kFarAway = int64_t{1} << 40;  // seconds
  if (request.since() < 0 || request.since() > kFarAway) {
    return absl::InvalidArgumentError("since is no time");
  }
  if (request.since() > 0) {
    filter.since = storage::WallTime(std::chrono::seconds(request.since()));
  }
  const auto archived = ArchivedOf(request.archived());
  if (!archived.ok()) return archived.status();
  filter.archived = *archived;
  return filter;
}

absl::StatusOr<int64_t> TotalOf(const storage::StoreReader& reader,
                                const TrialRange& range,
                                std::optional<FailureKind> kind) {
  if (kind) return reader.CountTrialsFailed(*kind, range.sweep, range.cell);
  if (!range.cell) {
    const auto row = reader.GetSweep(range.sweep);
    if (!row.ok()) return row.status();
    return TrialsOf(*row);
  }
  const auto cell = FindCell(reader, *range.cell);
  if (!cell.ok()) return cell.status();
  return cell->planned;
}

}  // namespace

absl::StatusOr<v1::ListSweepsReply> ListSweeps(
    const storage::StoreReader& reader, const v1::ListSweepsRequest& request) {
  const auto limit = LimitOf(request.limit(), 100, kMostRows);
  if (!limit.ok()) return limit.status();
  std::optional<SweepId> before;
  if (request.before() > 0) before = SweepId{request.before()};
  const auto filter = FilterOf(request);
  if (!filter.ok()) return filter.status();
  const auto rows = reader.FindSweeps(*filter, before, *limit);
  if (!rows.ok()) return rows.status();
  const auto total = reader.CountSweeps(*filter);
  if (!total.ok()) return total.status();
  v1::ListSweepsReply reply;
  reply.set_total(*total);
  size_t bytes = 0;
  for (const storage::SweepRow& row : *rows) {
    v1::SweepSummary& summary = *reply.add_sweeps() = SummaryOf(row);
    bytes += summary.ByteSizeLong();
    if (bytes > kPageBytes) break;
  }
  return reply;
}

absl::StatusOr<v1::ListTrialsReply> ListTrials(
    const storage::StoreReader& reader, const v1::ListTrialsRequest& request) {
  const auto limit = LimitOf(request.limit(), 1000, kMostRows);
  if (!limit.ok()) return limit.status();
  const auto range = RangeOf(reader, request.target());
  if (!range.ok()) return range.status();
  std::optional<TrialId> after;
  if (!request.after().empty()) {
    const auto trial = ReadTrialId(request.after());
    if (!trial.ok()) return trial.status();
    after = *trial;
  }
  const auto kind = KindOf(request.failed_kind());
  if (!kind.ok()) return kind.status();
  const auto total = TotalOf(reader, *range, *kind);
  if (!total.ok()) return total.status();
  const auto rows =
      *kind ? reader.ListTrialsFailed(**kind, range->sweep, range->cell, after,
                                      *limit)
            : reader.ListTrials(range->sweep, range->cell, after, *limit);
  if (!rows.ok()) return rows.status();
  v1::ListTrialsReply reply;
  reply.set_total(*total);
  reply.set_sweep(ToText(range->sweep));
  size_t bytes = 0;
  for (const storage::TrialRow& row : *rows) {
    v1::TrialSummary& summary = *reply.add_trials() = SummaryOf(row);
    bytes += summary.ByteSizeLong();
    if (bytes > kPageBytes) break;
  }
  return reply;
}

absl::StatusOr<v1::CurveReply> ReadCurve(const storage::StoreReader& reader,
                                         const v1::CurveRequest& request) {
  const auto trial = ReadTrialId(request.trial());
  if (!trial.ok()) return trial.status();
  if (request.metric().empty()) {
    return absl::InvalidArgumentError("a curve needs a metric: train_loss");
  }
  const auto limit = LimitOf(request.limit(), 10'000, kMostPoints);
  if (!limit.ok()) return limit.status();
  const auto row = reader.GetTrial(*trial);
  if (!row.ok()) return row.status();
  const auto points =
      reader.Curve(*trial, request.metric(), request.after_step(), *limit);
  if (!points.ok()) return points.status();
  v1::CurveReply reply;
  for (const storage::Point& point : *points) {
    reply.add_steps(point.step);
    reply.add_values(point.value);
  }
  return reply;
}

absl::StatusOr<v1::RoutingReply> ReadRouting(
    const storage::StoreReader& reader, const v1::RoutingRequest& request) {
  const auto trial = ReadTrialId(request.trial());
  if (!trial.ok()) return trial.status();
  const auto row = reader.GetTrial(*trial);
  if (!row.ok()) return row.status();
  std::optional<int64_t> step;
  if (request.step() != 0) step = request.step();
  const auto routing = reader.FindRouting(*trial, step);
  if (!routing.ok()) return routing.status();
  if (!*routing) {
    return absl::NotFoundError(
        "trial " + ToText(*trial) + " has no routing" +
        (step ? " of step " + std::to_string(*step) : std::string()) +
        "; it is recorded at each evaluation, with diagnostics on");
  }
  v1::RoutingReply reply = ReplyOf(**routing);
  if (reply.ByteSizeLong() > kMostReplyBytes) {
    return absl::ResourceExhaustedError(
        "the routing of trial " + ToText(*trial) +
        " is too large for one message; read the view routing of the "
        "database");
  }
  return reply;
}

}  // namespace leadline::rpc
