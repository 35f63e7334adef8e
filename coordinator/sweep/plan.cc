#include "coordinator/sweep/plan.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "coordinator/sweep/cell_settings.h"
#include "coordinator/sweep/check_sweep.h"
#include "coordinator/sweep/grid.h"
#include "coordinator/sweep/kept_points.h"
#include "coordinator/sweep/labels.h"
#include "model/spec/cost.h"
#include "model/spec/identity.h"
#include "model/spec/json_text.h"
#include "model/spec/memory_forecast.h"
#include "model/spec/start_point.h"

namespace leadline::sweep {
namespace {

constexpr size_t kMostProblems = 100;
constexpr int64_t kLargestAutoCohort = 8;

std::string AxesJson(
    const std::vector<std::pair<std::string, std::string>>& axes) {
  std::string json = "{";
  for (const auto& [key, label] : axes) {
    if (json.size() > 1) json += ',';
    json += spec::JsonText(key) + ':' + spec::JsonText(label);
  }
  return json + '}';
}

int64_t CohortSize(const spec::Settings& settings, int64_t seeds) {
  const auto given = settings.NumberUnlessWord("cohort");
  return std::min(seeds,
                  given ? static_cast<int64_t>(*given) : kLargestAutoCohort);
}

PlannedCell MakeCell(const GivenCell& given, const spec::Settings& settings,
                     const Labels& labels, int64_t seeds) {
  const std::optional<int64_t> vocabulary = given.dataset->vocabulary;
  PlannedCell cell;
  cell.settings_json = spec::SettingsJson(settings);
  cell.axes = labels.Axes(given, settings);
  cell.axes_json = AxesJson(cell.axes);
  cell.depth = settings.depth();
  cell.dataset_label = labels.Dataset(given);
  cell.method_label = labels.Method(given, settings);
  cell.dataset = *given.dataset;
  cell.steps = settings.Integer("steps");
  cell.devices = settings.Integer("devices");
  cell.threads = settings.Integer("threads");
  cell.cohort_size = CohortSize(settings, seeds);
  cell.parameters = spec::CountParameters(settings, vocabulary);
  cell.flops = spec::CountTrainingFlops(settings, vocabulary);
  cell.memory_bytes =
      spec::ForecastMemory(settings, vocabulary, cell.cohort_size).peak;
  cell.without_embedding = !vocabulary.has_value();
  return cell;
}

bool IsReadable(const std::vector<Axis>& axes) {
  return std::ranges::all_of(axes, [](const Axis& axis) {
    return std::ranges::none_of(axis.values, &Choice::unreadable);
  });
}

class Planner {
 public:
  Planner(const Sweep& sweep, const PlanOptions& options)
      : sweep_(sweep), options_(options) {}

  Planning Run() {
    if (!IsReadable(sweep_.axes) || !IsReadable(sweep_.fixed)) {
      Add({}, "some values of the sweep could not be read");
      return std::move(result_);
    }
    result_.problems = CheckSweep(sweep_);
    if (!result_.ok()) return std::move(result_);
    dimensions_ = Dimensions(sweep_);
    Count();
    if (result_.ok() && result_.plan.cells_listed) List();
    std::ranges::sort(result_.problems);
    return std::move(result_);
  }

 private:
  void Add(Position at, std::string message) {
    result_.problems.push_back({at, std::move(message)});
  }

  Box Everything() const {
    Box box;
    box.belongs.resize(dimensions_.size());
    return box;
  }

  /// Kept points in a box; reports what cannot be counted.
  int64_t CountKept(const Box& within) {
    const auto kept = KeptPoints(dimensions_, excluded_, within).Count();
    if (kept) return *kept;
    if (result_.ok()) {
      Add(sweep_.exclude[0].at,
          "exclude: the rules overlap in too many ways to be counted");
    }
    return 1;
  }

  void Count() {
    Plan& plan = result_.plan;
    for (const Axis& axis : sweep_.axes) {
      plan.axes.push_back({axis.key, static_cast<int64_t>(axis.values.size())});
    }
    const auto points = CountPoints(dimensions_);
    if (!points || *points > 1'000'000'000'000'000 / sweep_.seeds.count) {
      return Add(sweep_.axes[0].at, "the axes span more than 10^15 trials");
    }
    CountExcluded(*points);
    CountWhens();
    if (!result_.ok()) return;
    plan.trials = plan.cells * sweep_.seeds.count;
    if (options_.list_all && plan.trials > kMostTrials) {
      return Add({1, 1}, "the sweep has " + std::to_string(plan.trials) +
                             " trials, expected at most " +
                             std::to_string(kMostTrials));
    }
    plan.cells_listed = options_.list_all || plan.trials <= kManyTrials;
  }

  void CountExcluded(int64_t points) {
    for (size_t i = 0; i < sweep_.exclude.size(); ++i) {
      excluded_.push_back(BoxOf(sweep_, dimensions_, sweep_.exclude[i]));
      result_.plan.rules.push_back(
          {"exclude[" + std::to_string(i) + "]",
           CountPoints(dimensions_, excluded_.back())});
    }
    result_.plan.cells = CountKept(Everything());
    result_.plan.excluded = points - result_.plan.cells;
    if (result_.ok() && result_.plan.cells == 0) NameWhatLeavesNothing(points);
  }

  void NameWhatLeavesNothing(int64_t points) {
    for (size_t i = 0; i < excluded_.size(); ++i) {
      if (result_.plan.rules[i].cells == points) {
        return Add(sweep_.exclude[i].at, "no trial is left: exclude[" +
                                             std::to_string(i) +
                                             "] matches every cell");
      }
    }
    Add(sweep_.exclude[0].at, "no trial is left: exclude[0] to exclude[" +
                                  std::to_string(excluded_.size() - 1) +
                                  "] together match every cell");
  }

  void CountWhens() {
    for (size_t i = 0; i < sweep_.when.size(); ++i) {
      const Rule& rule = sweep_.when[i].rule;
      whens_.push_back(BoxOf(sweep_, dimensions_, rule));
      const std::string name = "when[" + std::to_string(i) + "]";
      if (!result_.ok()) continue;
      const int64_t cells = CountKept(whens_.back());
      result_.plan.rules.push_back({name, cells});
      if (cells == 0) Add(rule.at, name + " matches no cell");
    }
  }

  void List() {
    const Labels labels(sweep_);
    for (int64_t i = 0; i < sweep_.seeds.count; ++i) {
      seeds_.push_back(sweep_.seeds.At(i));
    }
    KeptPoints kept(dimensions_, excluded_, Everything());
    kept.Count();
    kept.ForEach([&](const Point& point) {
      ListCell(CellAt(sweep_, dimensions_, whens_, point), labels);
      return result_.problems.size() < kMostProblems;
    });
    Plan& plan = result_.plan;
    plan.cells = static_cast<int64_t>(plan.list.size());
    plan.trials = plan.cells * sweep_.seeds.count;
    plan.duplicates = 0;
    plan.flops = 0;
    plan.memory_bytes = 0;
    for (const PlannedCell& cell : plan.list) {
      *plan.duplicates += cell.duplicates;
      *plan.flops += cell.flops * static_cast<double>(sweep_.seeds.count);
      *plan.memory_bytes = std::max(*plan.memory_bytes, cell.memory_bytes);
    }
    plan.seeds = seeds_;
  }

  void ListCell(const GivenCell& given, const Labels& labels) {
    spec::Resolution cell = spec::Resolve(given.settings);
    if (cell.errors.empty()) FindStart(given, cell);
    if (!cell.errors.empty()) return ReportCell(given, cell.errors);
    const std::string hash = spec::CellHash(cell.settings, *given.dataset);
    std::vector<PlannedCell>& list = result_.plan.list;
    const auto [known, is_new] = numbers_.try_emplace(hash, list.size());
    if (!is_new) {
      ++list[known->second].duplicates;
      return;
    }
    list.push_back(MakeCell(given, cell.settings, labels, sweep_.seeds.count));
    list.back().number = static_cast<int64_t>(list.size());
    list.back().hash = hash;
  }

  /// Checks that the cell can start from its checkpoint, and says where that
  /// lies.
  void FindStart(const GivenCell& given, spec::Resolution& cell) const {
    const std::string& hash = cell.settings.Word("init_from");
    if (hash == "off") return;
    const auto found = sweep_.checkpoints.find(hash);
    if (found == sweep_.checkpoints.end()) {
      cell.errors = {
          {"init_from", "init_from: there is no checkpoint " + hash}};
      return;
    }
    cell.errors = spec::WhyNotFrom(found->second.start, cell.settings,
                                   *given.dataset, seeds_);
    spec::GivenSettings values = cell.settings.values();
    values["init_from_path"] = found->second.path;
    cell.settings = spec::Settings(std::move(values));
  }

  /// Of the cells with one cause the first is reported.
  void ReportCell(const GivenCell& given,
                  const std::vector<spec::SettingError>& errors) {
    for (const spec::SettingError& error : errors) {
      const Position at = CauseOf(given, error.key);
      const bool is_new = reported_.insert({at, error.key}).second;
      if (is_new) Add(at, error.message + " (method " + Name(given) + ")");
    }
  }

  static const std::string& Name(const GivenCell& given) {
    return std::get<Method>(given.method->value).name;
  }

  const Sweep& sweep_;
  const PlanOptions& options_;
  std::vector<Dimension> dimensions_;
  std::vector<Box> excluded_;
  std::vector<Box> whens_;
  std::vector<int64_t> seeds_;
  std::unordered_map<std::string, size_t> numbers_;  // of cells, by hash
  std::set<std::pair<Position, std::string>> reported_;
  Planning result_;
};

}  // namespace

Planning MakePlan(const Sweep& sweep, const PlanOptions& options) {
  return Planner(sweep, options).Run();
}

std::vector<CohortSeeds> SplitIntoCohorts(int64_t seeds, int64_t cohort_size) {
  std::vector<CohortSeeds> cohorts;
  for (int64_t first = 0; first < seeds; first += cohort_size) {
    cohorts.push_back({first, std::min(cohort_size, seeds - first)});
  }
  return cohorts;
}

}  // namespace leadline::sweep
