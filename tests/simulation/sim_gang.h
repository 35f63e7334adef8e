// What the ranks of one attempt know of each other, on whatever nodes they run.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "clockwork.h"
#include "common/ids.h"

namespace leadline::simulation {

class SimProcess;

class SimGang {
 public:
  explicit SimGang(int64_t size) : size_(size) {}

  void Add(int64_t rank, std::weak_ptr<SimProcess> process) {
    ranks_[rank] = std::move(process);
  }

  /// Every rank has been told where the others listen.
  bool IsComplete() const;
  /// Some rank that was started is gone.
  bool HasLost() const;
  /// Since when some rank has stood still; null if none does.
  std::optional<SteadyTime> StalledSince() const;
  /// The last barrier: all others say that they have succeeded, and end. False
  /// if one cannot.
  bool EndOthers(int64_t rank) const;

 private:
  int64_t size_;
  std::map<int64_t, std::weak_ptr<SimProcess>> ranks_;
};

/// Of all attempts of several ranks.
class SimGangs {
 public:
  std::shared_ptr<SimGang> Of(const AttemptKey& attempt, int64_t size) {
    std::shared_ptr<SimGang>& gang = gangs_[attempt];
    if (!gang) gang = std::make_shared<SimGang>(size);
    return gang;
  }

 private:
  std::map<AttemptKey, std::shared_ptr<SimGang>> gangs_;
};

}  // namespace leadline::simulation
