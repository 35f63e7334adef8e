#include "cli/sweep_rows.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/ids.h"

namespace leadline::cli {
namespace {

constexpr int64_t kSweepPage = 100;
constexpr int64_t kTrialPage = 1000;

absl::StatusOr<v1::ListSweepsReply> SweepPage(
    Connection& connection, const v1::ListSweepsRequest& request) {
  return connection.Ask<v1::ListSweepsReply>(
      [&](grpc::ClientContext* context, v1::ListSweepsReply* reply) {
        return connection.results().ListSweeps(context, request, reply);
      });
}

absl::StatusOr<v1::ListTrialsReply> TrialPage(Connection& connection,
                                              const std::string& target,
                                              int64_t limit,
                                              const std::string& after,
                                              const std::string& failed_kind) {
  v1::ListTrialsRequest request;
  request.set_target(target);
  request.set_limit(limit);
  request.set_after(after);
  request.set_failed_kind(failed_kind);
  return connection.Ask<v1::ListTrialsReply>(
      [&](grpc::ClientContext* context, v1::ListTrialsReply* reply) {
        return connection.results().ListTrials(context, request, reply);
      });
}

}  // namespace

absl::StatusOr<SweepList> FetchSweeps(Connection& connection, int64_t limit,
                                      v1::ListSweepsRequest wanted) {
  SweepList list;
  int64_t before = 0;
  while (static_cast<int64_t>(list.sweeps.size()) < limit) {
    wanted.set_limit(
        std::min(kSweepPage, limit - static_cast<int64_t>(list.sweeps.size())));
    wanted.set_before(before);
    const auto page = SweepPage(connection, wanted);
    if (!page.ok()) return page.status();
    list.total = page->total();
    for (const auto& sweep : page->sweeps()) list.sweeps.push_back(sweep);
    const auto have = static_cast<int64_t>(list.sweeps.size());
    if (page->sweeps().empty() || have >= list.total) break;
    const auto last = ParseSweepId(list.sweeps.back().sweep());
    // An older page must exist and lie further back, or this would never end.
    if (!last.has_value() || last->value <= 1) break;
    if (before != 0 && last->value >= before) break;
    before = last->value;
  }
  list.total = std::max(list.total, static_cast<int64_t>(list.sweeps.size()));
  return list;
}

absl::StatusOr<TrialList> FetchTrials(Connection& connection,
                                      const std::string& target,
                                      std::optional<int64_t> limit,
                                      const std::string& failed_kind) {
  TrialList list;
  while (!limit.has_value() ||
         static_cast<int64_t>(list.trials.size()) < *limit) {
    const auto have = static_cast<int64_t>(list.trials.size());
    const auto page = TrialPage(
        connection, target,
        limit.has_value() ? std::min(kTrialPage, *limit - have) : kTrialPage,
        list.trials.empty() ? "" : list.trials.back().trial(), failed_kind);
    if (!page.ok()) return page.status();
    list.total = page->total();
    list.sweep = page->sweep();
    for (const auto& trial : page->trials()) list.trials.push_back(trial);
    const auto now = static_cast<int64_t>(list.trials.size());
    if (now == have || now >= list.total) break;
  }
  return list;
}

absl::StatusOr<v1::SweepSummary> FetchSweep(Connection& connection,
                                            const std::string& sweep) {
  const auto id = ParseSweepId(sweep);
  if (!id.has_value()) {
    return absl::NotFoundError(fmt::format("'{}' is no sweep", sweep));
  }
  v1::ListSweepsRequest request;
  request.set_limit(1);
  request.set_before(id->value + 1);
  request.set_archived("too");
  const auto page = SweepPage(connection, request);
  if (!page.ok()) return page.status();
  if (page->sweeps().empty() || page->sweeps(0).sweep() != sweep) {
    return absl::NotFoundError(fmt::format("there is no sweep {}", sweep));
  }
  return page->sweeps(0);
}

std::string TagsText(const v1::SweepSummary& sweep, const Style& style) {
  std::string text;
  for (const std::string& tag : sweep.tags()) {
    text += (text.empty() ? "" : ", ") + style.Clean(tag);
  }
  return text;
}

Json SweepJson(const v1::SweepSummary& sweep) {
  return {
      {"sweep", sweep.sweep()},
      {"name", sweep.name()},
      {"description", sweep.description()},
      {"state", sweep.state()},
      {"submitted_at", sweep.submitted_at()},
      {"user", sweep.user()},
      {"cells", sweep.cells()},
      {"trials", sweep.trials()},
      {"succeeded", sweep.succeeded()},
      {"diverged", sweep.diverged()},
      {"failed", sweep.failed()},
      {"cancelled", sweep.cancelled()},
      {"never_began", sweep.never_began()},
      {"running", sweep.running()},
      {"queued", sweep.queued()},
      {"suspended", sweep.suspended()},
      {"archived_at",
       sweep.archived_at().empty() ? Json(nullptr) : Json(sweep.archived_at())},
      {"note", sweep.note()},
      {"tags",
       std::vector<std::string>(sweep.tags().begin(), sweep.tags().end())}};
}

Json TrialJson(const v1::TrialSummary& trial) {
  return {{"trial", trial.trial()},
          {"cell", trial.cell()},
          {"seed", trial.seed()},
          {"depth", trial.depth()},
          {"dataset", trial.dataset()},
          {"method", trial.method()},
          {"state", trial.state()},
          {"reason", trial.reason()},
          {"attempts", trial.attempts()},
          {"began", trial.attempts() > 0},
          {"failed_kind", trial.failed_kind()},
          {"validation_loss",
           JsonOptional(trial.has_validation_loss(), trial.validation_loss())}};
}

}  // namespace leadline::cli
