// Everything a store holds, as text.

#include <cmath>
#include <cstdio>
#include <limits>
#include <sstream>

#include "tests/support/store_world.h"

namespace leadline::test {
namespace {

using namespace storage;  // NOLINT(google-build-using-namespace)

constexpr int64_t kAll = std::numeric_limits<int64_t>::max();
constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();

std::string Bits(double value) {
  if (std::isnan(value)) return "nan";
  char text[40];
  std::snprintf(text, sizeof(text), "%a", value);
  return text;
}

template <typename T>
std::string Text(const std::optional<T>& value) {
  if (!value) return "-";
  if constexpr (std::is_same_v<T, double>) return Bits(*value);
  if constexpr (std::is_same_v<T, int64_t>) return std::to_string(*value);
  return "";
}

class Dumper {
 public:
  Dumper(const StorePair& pair, const std::vector<std::string>& metrics)
      : pair_(pair), metrics_(metrics) {}

  std::string All() {
    const auto sweeps = pair_.reader->ListSweeps(std::nullopt, kAll);
    if (!sweeps.ok()) return std::string(sweeps.status().message());
    out_ << "sweeps " << pair_.reader->CountSweeps().value() << "\n";
    for (const SweepRow& row : *sweeps) OneSweep(row);
    const auto nodes = pair_.store->LoadNodes();
    for (const NodeRecord& node : nodes.value()) OneNode(node);
    return out_.str();
  }

 private:
  void OneSweep(const SweepRow& row) {
    const SweepRecord& sweep = row.sweep;
    out_ << ToText(sweep.id) << "|" << sweep.name << "|" << sweep.description
         << "|" << sweep.user << "|" << sweep.source << "|"
         << sweep.canonical_hash << "|" << Name(sweep.state) << "|"
         << sweep.submitted_at.time_since_epoch().count() << "|"
         << sweep.priority << "|" << Text(sweep.parallel_limit) << "|"
         << Text(sweep.failure_limit) << "|" << Text(sweep.failure_row_limit)
         << "|" << Name(sweep.on_failures) << "|" << sweep.failures_in_row
         << "|" << sweep.stopped_because << "|"
         << (sweep.archived_at ? "archived" : "") << "|" << sweep.note;
    for (const std::string& tag : sweep.tags) out_ << "|" << tag;
    out_ << "|cells " << row.cells;
    for (const int64_t count : row.trials) out_ << " " << count;
    out_ << " never began " << row.never_began << "\n";
    const auto orphans = pair_.reader->SweepOrphans(sweep.id).value();
    out_ << "orphans " << orphans.attempts << " " << orphans.records << "\n";
    const auto failures = pair_.reader->CountFailures(sweep.id);
    for (const FailureCount& count : failures.value()) {
      out_ << Name(count.kind) << " " << count.attempts << " " << count.trials
           << " of "
           << pair_.reader->CountTrialsFailed(count.kind, sweep.id, {}).value()
           << "\n";
    }
    const auto groups = pair_.reader->ListEnded(sweep.id, kAll);
    for (const EndedGroup& group : groups.value()) {
      out_ << Name(group.state) << "|" << group.reason << "|" << group.began
           << "|" << group.trials << "|" << ToText(group.first) << "\n";
    }
    for (const std::string metric :
         {"validation_loss", "test_loss", "best_validation_loss"}) {
      Cells(sweep.id, metric);
    }
    const auto trials =
        pair_.reader->ListTrials(sweep.id, std::nullopt, std::nullopt, kAll);
    for (const TrialRow& trial : trials.value()) OneTrial(trial);
    const SweepContents contents = pair_.store->LoadSweep(sweep.id).value();
    for (const CohortRecord& cohort : contents.cohorts) OneCohort(cohort);
    for (const AttemptRecord& live : contents.live) {
      out_ << "live " << ToText(live.key) << "\n";
    }
    for (const AttemptRecord& cancelled : contents.cancelled) {
      out_ << "cancelled " << ToText(cancelled.key) << "\n";
    }
    for (const ErrandRecord& errand : contents.errands) {
      out_ << Name(errand.kind) << " " << Text(errand.cell) << " "
           << errand.failed << errand.cancelled << " is under way\n";
    }
  }

  void Cells(SweepId sweep, const std::string& metric) {
    const auto cells = pair_.reader->ListCells(sweep, metric, 0, kAll);
    for (const CellValues& values : cells.value()) {
      const CellRecord& cell = values.cell;
      const DatasetRecord& data = cell.dataset;
      out_ << ToText(cell.id) << "|" << metric << "|" << cell.hash << "|"
           << cell.settings_json << "|" << cell.axes_json << "|" << cell.depth
           << "|" << cell.dataset_label << "|" << cell.method_label << "|"
           << data.name << "|" << data.path << "|" << data.content_hash << "|"
           << data.tokenizer << "|" << Bits(data.split[0]) << "|"
           << Bits(data.split[1]) << "|" << Bits(data.split[2]) << "|"
           << Text(data.vocabulary) << "|" << cell.unit << "|"
           << Text(cell.validation_floor) << "|" << Text(cell.test_floor) << "|"
           << cell.steps << "|" << values.planned << " " << values.diverged
           << " " << values.failed;
      for (const SeedValue& value : values.values) {
        out_ << " " << ToText(value.trial) << ":" << value.seed << "="
             << Bits(value.value) << "/" << value.numerics;
      }
      out_ << "\n";
    }
  }

  void OneTrial(const TrialRow& row) {
    const TrialId id = row.trial.id;
    out_ << ToText(id) << "|" << ToText(row.trial.cohort) << "|"
         << row.trial.seed << "|" << Name(row.trial.state) << "|"
         << row.trial.reason << "|" << row.attempts << "|"
         << Text(row.validation_loss) << "|"
         << (row.failed_kind ? Name(*row.failed_kind) : "-") << "\n";
    if (const auto result = pair_.reader->FindResult(id).value()) {
      out_ << "result " << ToText(result->attempt) << " "
           << Bits(result->validation_loss) << " " << Text(result->test_loss)
           << " " << Text(result->best_validation_loss) << " "
           << Text(result->best_step) << " " << result->unit << " "
           << result->steps << " " << result->tokens << " "
           << Bits(result->seconds) << " " << result->peak_bytes << " "
           << result->parameters << " " << Name(result->determinism) << "\n";
    }
    for (const std::string& metric : metrics_) {
      const auto points = pair_.reader->Curve(id, metric, kFirst, kAll);
      for (const Point& point : points.value()) {
        out_ << point.metric << " " << point.step << " " << Bits(point.value)
             << "\n";
      }
    }
    Routing(id);
    if (const auto losses =
            pair_.reader->FindWindows(id, "validation", std::nullopt).value()) {
      out_ << "windows " << losses->step;
      for (const double loss : losses->losses) out_ << " " << Bits(loss);
      out_ << "\n";
    }
  }

  void Routing(const TrialId& id) {
    const auto routing = pair_.reader->FindRouting(id, std::nullopt).value();
    if (!routing) return;
    out_ << "routing " << routing->step << "\n";
    for (const RouterRow& router : routing->map) {
      for (size_t k = 0; k < router.sources.size(); ++k) {
        out_ << router.sources[k] << "=" << Bits(router.weights[k]) << " ";
      }
      out_ << "\n";
    }
    for (const auto& [name, numbers] : routing->statistics) {
      out_ << name;
      for (const double number : numbers) out_ << " " << Bits(number);
      out_ << "\n";
    }
  }

  void OneNode(const NodeRecord& node) {
    out_ << "node " << node.name << "|" << node.quarantined << "|"
         << node.reason << "|" << node.rounds << "|"
         << (node.canary ? ToText(*node.canary) : "-") << "|"
         << node.failed_canaries << "|" << node.undecided;
    for (const AttemptKey& key : node.failures) out_ << " " << ToText(key);
    out_ << "\n";
  }

  void OneCohort(const CohortRecord& cohort) {
    out_ << ToText(cohort.id) << " " << cohort.attempts << " "
         << cohort.failures << " " << cohort.failures_in_row << " "
         << cohort.furthest_step << " " << cohort.spared << " "
         << cohort.free_restarts << " " << cohort.memory_tried << " "
         << (cohort.waits_after ? Name(*cohort.waits_after) : "-");
    for (const std::string& node : cohort.failed_nodes) out_ << " " << node;
    out_ << " of";
    const auto trials = pair_.reader->CohortTrials(cohort.id);
    for (const TrialRecord& trial : trials.value()) {
      out_ << " " << ToText(trial.id);
    }
    out_ << "\n";
    const auto attempts = pair_.reader->ListAttempts(cohort.id);
    for (const AttemptRecord& attempt : attempts.value()) {
      OneAttempt(attempt);
    }
  }

  void OneAttempt(const AttemptRecord& a) {
    out_ << ToText(a.key) << "|" << a.node << "|" << a.instance << "|"
         << a.device << "|" << a.numerics << "|" << a.version << "|" << a.commit
         << "|" << a.libraries << "|" << a.dataset_path << "|" << a.threads
         << "|" << a.parameters << "|" << a.last_sequence << "|" << a.step
         << "|" << a.started_at.time_since_epoch().count() << "|"
         << (a.ended_at ? a.ended_at->time_since_epoch().count() : -1) << "|"
         << Name(a.outcome) << "|" << (a.kind ? Name(*a.kind) : "-") << "|"
         << a.message << "|" << a.stop_reason;
    for (const std::string& device : a.devices) out_ << " " << device;
    for (const RankRecord& rank : a.ranks) {
      out_ << " " << rank.node << "/" << rank.pid;
    }
    out_ << "\n";
    const auto orphans = pair_.reader->ListOrphans(a.key, kFirst, kAll);
    for (const OrphanRecord& orphan : orphans.value()) {
      out_ << "orphan " << orphan.sequence << " " << orphan.text << "\n";
    }
  }

  const StorePair& pair_;
  const std::vector<std::string>& metrics_;
  std::ostringstream out_;
};

}  // namespace

std::string Dump(const StorePair& pair,
                 const std::vector<std::string>& metrics) {
  return Dumper(pair, metrics).All();
}

}  // namespace leadline::test
