// How far the streams of a method with several have come apart.

#pragma once

#include "model/probes/figures.h"
#include "model/router/observer.h"

namespace leadline::model {

/// Writes `streams.spread` to a table that outlives it. Owned by one thread.
class StreamsProbe final : public RouterObserver {
 public:
  StreamsProbe(double eps, FigureTable& table) : eps_(eps), table_(table) {}

  void OnStreams(int64_t sublayer, const torch::Tensor& streams_RBTMD) override;

 private:
  double eps_;
  FigureTable& table_;
};

}  // namespace leadline::model
