// What a step of control counts for those who measure: of no use to control.

#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace leadline::control {

/// Points are values of curves that were sent and not stored as such.
struct Tally {
  int64_t late_points = 0;      // of attempts that count no more; kept apart
  int64_t dropped_points = 0;   // of trials that have ended, or late beyond
                                // what is kept
  int64_t repeated_points = 0;  // sent again although they were stored
  std::map<std::string, double> tokens;  // trained on, by node

  bool IsEmpty() const {
    return late_points == 0 && dropped_points == 0 && repeated_points == 0 &&
           tokens.empty();
  }
  void Add(const Tally& other) {
    late_points += other.late_points;
    dropped_points += other.dropped_points;
    repeated_points += other.repeated_points;
    for (const auto& [node, count] : other.tokens) tokens[node] += count;
  }
};

}  // namespace leadline::control
