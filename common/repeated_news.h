// What goes on for long is told at once, and then ever more rarely.

#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>

namespace leadline {

/// Owned by one thread; time is passed in.
class RepeatedNews {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  /// True if `text` should be told now: it is new, or was told last a minute
  /// ago, then two, and so on up to an hour. Each news has a pace of its own,
  /// so two that take turns do not count as new. Of a long one the beginning
  /// counts.
  bool IsDue(std::string_view text, SteadyTime now);

  /// All is new again.
  void Forget() { told_.clear(); }

 private:
  struct Told {
    SteadyTime again;
    std::chrono::minutes wait;
  };

  std::map<std::string, Told> told_;
};

}  // namespace leadline
