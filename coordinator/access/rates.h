// How many calls a second one caller may make.

#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>

#include <absl/base/thread_annotations.h>

namespace leadline::access {

/// A bucket a caller: it fills at `a_second` and holds `at_once`. Thread-safe.
class Rates {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Rates(double a_second, double at_once)
      : a_second_(a_second), at_once_(at_once) {}

  /// False if the caller has used up what it may. Callers are few: those who
  /// have a token, and the doors through which the others come.
  bool Take(const std::string& caller, Time now);

 private:
  struct Bucket {
    double left = 0;
    Time at;
  };

  const double a_second_;
  const double at_once_;
  std::mutex mutex_;
  std::map<std::string, Bucket> buckets_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace leadline::access
