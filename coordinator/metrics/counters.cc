#include "coordinator/metrics/counters.h"

#include <algorithm>

#include "coordinator/metrics/bounds.h"
#include "coordinator/metrics/label_text.h"
#include "coordinator/metrics/metric_table.h"

namespace leadline::metrics {
namespace {

constexpr char kOther[] = "other";

prometheus::Histogram::BucketBoundaries BucketsOf(std::string_view name) {
  return FindMetric(name).buckets;
}

/// The value at the place of `which` in the table's list.
template <typename Which>
const std::string& ValueOf(std::string_view metric, std::string_view label,
                           Which which) {
  return FindMetric(metric).Label(label).values.at(static_cast<size_t>(which));
}

std::string OneOf(const std::vector<std::string>& known,
                  std::string_view value) {
  return std::ranges::find(known, value) == known.end() ? kOther
                                                        : std::string(value);
}

}  // namespace

Counters::Counters(const Known& known)
    : attempts_(AddCounter("leadline_attempts_total")),
      points_(AddCounter("leadline_points_total")),
      tokens_(AddCounter("leadline_tokens_total")),
      failed_commits_(AddCounter("leadline_store_failures_total")),
      requests_(AddCounter("leadline_http_requests_total")),
      calls_(AddHistogram("leadline_rpc_seconds")),
      turns_(AddHistogram("leadline_control_tick_seconds")
                 .Add({}, BucketsOf("leadline_control_tick_seconds"))),
      commits_(AddHistogram("leadline_store_commit_seconds")
                   .Add({}, BucketsOf("leadline_store_commit_seconds"))),
      methods_(known.methods),
      routes_(known.routes) {
  BeginAtZero(known);
}

Counters::CounterFamily& Counters::AddCounter(std::string_view name) {
  const MetricDefinition& metric = FindMetric(name);
  return prometheus::BuildCounter()
      .Name(metric.name)
      .Help(metric.help)
      .Register(registry_);
}

Counters::HistogramFamily& Counters::AddHistogram(std::string_view name) {
  const MetricDefinition& metric = FindMetric(name);
  return prometheus::BuildHistogram()
      .Name(metric.name)
      .Help(metric.help)
      .Register(registry_);
}

/// A rate needs a beginning.
void Counters::BeginAtZero(const Known& known) {
  for (const std::string& outcome :
       FindMetric("leadline_attempts_total").Label("outcome").values) {
    attempts_.Add({{"outcome", outcome}, {"kind", "none"}});
  }
  for (const FailureKind kind : kFailureKinds) {
    attempts_.Add({{"outcome", std::string(Name(AttemptOutcome::kFailed))},
                   {"kind", std::string(Name(kind))}});
  }
  for (const std::string& result :
       FindMetric("leadline_points_total").Label("result").values) {
    points_.Add({{"result", result}});
  }
  for (const std::string& reason :
       FindMetric("leadline_store_failures_total").Label("reason").values) {
    failed_commits_.Add({{"reason", reason}});
  }
  for (const std::string& route : known.routes) {
    requests_.Add({{"route", route}, {"code", "200"}});
  }
}

void Counters::CountAttempt(AttemptOutcome outcome,
                            std::optional<FailureKind> kind) {
  attempts_
      .Add({{"outcome", std::string(Name(outcome))},
            {"kind", kind ? std::string(Name(*kind)) : "none"}})
      .Increment();
}

void Counters::CountPoints(PointFate fate, int64_t count) {
  if (count <= 0) return;
  points_.Add({{"result", ValueOf("leadline_points_total", "result", fate)}})
      .Increment(static_cast<double>(count));
}

void Counters::CountTokens(const std::string& node, double tokens) {
  const std::lock_guard lock(mutex_);
  auto found = nodes_.find(node);
  if (found == nodes_.end()) {
    const bool has_room = nodes_.size() < kMostNodes;
    prometheus::Counter& counter =
        tokens_.Add({{"node", has_room ? LabelText(node) : kOther}});
    if (!has_room) return counter.Increment(tokens);
    found = nodes_.emplace(node, &counter).first;
  }
  found->second->Increment(tokens);
}

void Counters::CountFailedCommit(CommitFailure why) {
  failed_commits_
      .Add(
          {{"reason", ValueOf("leadline_store_failures_total", "reason", why)}})
      .Increment();
}

void Counters::ObserveTurn(double seconds) { turns_.Observe(seconds); }

void Counters::ObserveCommit(double seconds) { commits_.Observe(seconds); }

void Counters::ObserveCall(std::string_view method, std::string_view code,
                           double seconds) {
  calls_
      .Add({{"method", OneOf(methods_, method)}, {"code", std::string(code)}},
           BucketsOf("leadline_rpc_seconds"))
      .Observe(seconds);
}

void Counters::CountRequest(std::string_view route, unsigned code) {
  requests_
      .Add({{"route", OneOf(routes_, route)}, {"code", std::to_string(code)}})
      .Increment();
}

std::vector<prometheus::MetricFamily> Counters::Collect() const {
  return registry_.Collect();
}

}  // namespace leadline::metrics
