// What is counted while it happens: counters and histograms of one process.

#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <absl/base/thread_annotations.h>
#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/registry.h>

#include "common/experiment.h"

namespace leadline::metrics {

/// Whatever else may be a label's value: those of the table that are known only
/// when the process starts.
struct Known {
  std::vector<std::string> methods;  // "SweepService/Submit"
  std::vector<std::string> routes;   // "/metrics"
};

enum class PointFate { kStored, kOverwritten, kRepeated, kLate, kDropped };
enum class CommitFailure { kRefused, kFailed };

/// Thread-safe; nothing here blocks for longer than it takes to add a number.
/// Series are made from closed sets and never removed.
class Counters {
 public:
  explicit Counters(const Known& known);

  void CountAttempt(AttemptOutcome outcome, std::optional<FailureKind> kind);
  void CountPoints(PointFate fate, int64_t count);
  void CountTokens(const std::string& node, double tokens);
  void CountFailedCommit(CommitFailure why);
  void ObserveTurn(double seconds);
  void ObserveCommit(double seconds);
  /// `code` as in the table: "OK".
  void ObserveCall(std::string_view method, std::string_view code,
                   double seconds);
  void CountRequest(std::string_view route, unsigned code);

  std::vector<prometheus::MetricFamily> Collect() const;

 private:
  using CounterFamily = prometheus::Family<prometheus::Counter>;
  using HistogramFamily = prometheus::Family<prometheus::Histogram>;

  CounterFamily& AddCounter(std::string_view name);
  HistogramFamily& AddHistogram(std::string_view name);
  void BeginAtZero(const Known& known);

  prometheus::Registry registry_;
  CounterFamily& attempts_;
  CounterFamily& points_;
  CounterFamily& tokens_;
  CounterFamily& failed_commits_;
  CounterFamily& requests_;
  HistogramFamily& calls_;
  prometheus::Histogram& turns_;
  prometheus::Histogram& commits_;
  const std::vector<std::string> methods_;
  const std::vector<std::string> routes_;
  std::mutex mutex_;
  std::map<std::string, prometheus::Counter*> nodes_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace leadline::metrics
