#include "coordinator/metrics/exposition.h"

#include <array>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include <prometheus/text_serializer.h>

#include "coordinator/metrics/gauge_family.h"
#include "coordinator/metrics/process_gauges.h"

namespace leadline::metrics {
namespace {

using Families = std::vector<prometheus::MetricFamily>;

void Append(Families& families, Families more) {
  std::move(more.begin(), more.end(), std::back_inserter(families));
}

/// Every state has its value, zeros included.
template <typename List, typename Counts>
Families States(std::string_view name, const List& list, const Counts& counts) {
  GaugeFamily family(name);
  for (const auto state : list) {
    family.Set({std::string(Name(state))},
               static_cast<double>(counts[static_cast<size_t>(state)]));
  }
  return {family.family()};
}

Families One(std::string_view name, const std::vector<std::string>& labels,
             double value) {
  GaugeFamily family(name);
  family.Set(labels, value);
  return {family.family()};
}

Families SweepTrials(const std::vector<control::SweepCounts>& sweeps) {
  GaugeFamily family("leadline_sweep_trials");
  for (const control::SweepCounts& sweep : sweeps) {
    for (const TrialState state : kTrialStates) {
      family.Set({ToText(sweep.id), std::string(Name(state))},
                 static_cast<double>(sweep.trials[static_cast<size_t>(state)]));
    }
  }
  return {family.family()};
}

Families StoreSizes(const storage::StoreReader& reader) {
  const auto size = reader.Size();
  if (!size.ok()) return {};
  Families families = One("leadline_store_bytes", {},
                          static_cast<double>(size->database_bytes));
  Append(families, One("leadline_store_log_bytes", {},
                       static_cast<double>(size->log_bytes)));
  return families;
}

Families LeftOut(int64_t sweeps, int64_t cells) {
  GaugeFamily family("leadline_series_left_out");
  family.Set({"sweeps"}, static_cast<double>(sweeps));
  family.Set({"cells"}, static_cast<double>(cells));
  return {family.family()};
}

}  // namespace

Exposition::Exposition(ExpositionParts parts)
    : parts_(std::move(parts)), cells_(parts_.reader) {}

void Exposition::Take(control::Overview overview) {
  const std::lock_guard lock(overview_mutex_);
  sweeps_.Take(overview);
  overview_ = std::move(overview);
}

std::string Exposition::Text() {
  control::Overview overview;
  std::vector<control::SweepCounts> sweeps;
  int64_t sweeps_left_out = 0;
  {
    const std::lock_guard lock(overview_mutex_);
    overview = overview_;
    sweeps = sweeps_.List(parts_.now());
    sweeps_left_out = sweeps_.left_out();
  }
  Families families = parts_.counters.Collect();
  if (const auto trials = parts_.reader.CountTrials(); trials.ok()) {
    Append(families, States("leadline_trials", kTrialStates, *trials));
  }
  Append(families, One("leadline_queue_oldest_seconds", {},
                       overview.oldest_wait.count()));
  Append(families,
         States("leadline_nodes", control::kNodeStates, overview.nodes));
  Append(families,
         States("leadline_devices", control::kDeviceStates, overview.devices));
  Append(families, SweepTrials(sweeps));
  {
    const std::lock_guard lock(cells_mutex_);
    Append(families, cells_.Collect(sweeps));
    Append(families, LeftOut(sweeps_left_out, cells_.left_out()));
  }
  Append(families, StoreSizes(parts_.reader));
  Append(families,
         One("leadline_build_info", {parts_.version, parts_.commit}, 1));
  Append(families, CollectProcess());
  // A name without a series would be a line that says nothing.
  std::erase_if(families,
                [](const auto& family) { return family.metric.empty(); });
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace leadline::metrics
