// What to do about a coordinator that breaks off because it cannot store
// something: find the record it is, and leave that out, instead of sending it
// for ever.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "common/ids.h"

namespace leadline::agent {

/// Pure bookkeeping, owned by one thread.
class CarefulSending {
 public:
  /// Records of one attempt that were sent and not acknowledged.
  struct Outstanding {
    AttemptKey attempt;
    int64_t first = 0;
    int64_t last = 0;
  };

  /// The stream broke off for that reason with those on their way. Returns the
  /// one that was alone on its way three times in a row.
  std::optional<Outstanding> OnRefused(
      std::span<const Outstanding> outstanding);

  /// All of that attempt up to there is stored; or the attempt has gone.
  void OnStored(const AttemptKey& attempt, int64_t sequence);
  void Forget(const AttemptKey& attempt) { until_.erase(attempt); }

  /// While it is so, a single record may be on its way, of an attempt that may
  /// send.
  bool IsCareful() const { return !until_.empty(); }
  bool MaySend(const AttemptKey& attempt) const {
    return !IsCareful() || until_.begin()->first == attempt;
  }

 private:
  std::map<AttemptKey, int64_t> until_;  // records that may be the cause
  std::optional<Outstanding> suspect_;
  int refusals_ = 0;
};

}  // namespace leadline::agent
