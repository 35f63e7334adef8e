// The figures once more, in plain double loops over what a pass left behind:
// weights, sources, updates.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/router/observer.h"

namespace leadline::model::testing {

/// Keeps copies of everything a pass shows.
class Tape final : public RouterObserver {
 public:
  void OnEmbeddings(const torch::Tensor& e_RBTD) override;
  void OnRoute(const RouteRecord& record) override;
  void OnStreams(int64_t sublayer, const torch::Tensor& streams) override;
  void OnSublayer(int64_t sublayer, const torch::Tensor& x_RBTD,
                  const torch::Tensor& u_RBTD) override;

  torch::Tensor e_RBTD;
  std::vector<RouteRecord> routes;
  std::vector<torch::Tensor> inputs;
  std::vector<torch::Tensor> updates;
  std::map<int64_t, torch::Tensor> streams;
};

struct PlainOptions {
  double eps = 0;
  double rho = 0;
  int64_t block_sublayers = 1;
  bool additive = false;
};

/// `route.*`, `source.*`, `detail.*` of weights and sources, `layer.*` but the
/// gradient, `streams.spread`, of one replica. Elements never set are nan.
std::map<std::string, std::vector<double>> PlainFigures(
    const Tape& tape, int64_t replica, const PlainOptions& options);

}  // namespace leadline::model::testing
