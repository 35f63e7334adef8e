// Hands what control tells of itself to those who keep it.

#pragma once

#include <string>

#include "coordinator/control/observer.h"
#include "coordinator/health.h"
#include "coordinator/metrics/counters.h"
#include "coordinator/metrics/exposition.h"

namespace leadline {

/// Called on the thread of control.
class ControlWatch final : public control::Observer {
 public:
  /// All of them must outlive this.
  ControlWatch(Health& health, metrics::Counters& counters,
               metrics::Exposition& exposition)
      : health_(health), counters_(counters), exposition_(exposition) {}

  void OnTurn(control::Moment now, control::Seconds took,
              const std::string& refusal) override;
  void OnTally(const control::Tally& tally) override;
  void OnOverview(control::Overview overview) override;

 private:
  Health& health_;
  metrics::Counters& counters_;
  metrics::Exposition& exposition_;
};

}  // namespace leadline
