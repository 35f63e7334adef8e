// A method without its decoder, driven with chosen updates, and what its
// routers do.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "model/methods/method.h"
#include "model/parameters.h"
#include "model/router/observer.h"
#include "model/spec/settings.h"

namespace leadline::exact {

/// Keeps everything it sees.
class Recorder final : public model::RouterObserver {
 public:
  void OnRoute(const model::RouteRecord& record) override;

  /// What router q did; fails the test if it did not route.
  const model::RouteRecord& At(int64_t q) const;
  /// The source of that label in router q; fails the test if it is not there.
  torch::Tensor Source(int64_t q, const std::string& label) const;
  bool Has(int64_t q, const std::string& label) const;

  std::vector<model::RouteRecord> records;
  /// What the sublayers read, then the final norm.
  std::vector<torch::Tensor> reads_RBTD;
};

class Bench {
 public:
  Bench(const spec::Settings& settings, int64_t replicas);

  /// Runs a pass over `updates`, one a sublayer; e is its own tensor.
  Recorder Run(const torch::Tensor& e_RBTD,
               const std::vector<torch::Tensor>& updates) const;

  /// A number that depends on all that sublayers and the final norm read.
  torch::Tensor Loss(const torch::Tensor& e_RBTD,
                     const std::vector<torch::Tensor>& updates) const;

  /// [R, 2, 3, D].
  torch::Tensor Random(int64_t seed) const;
  std::vector<torch::Tensor> RandomUpdates() const;

  void SetQueries(double std);
  /// Adds normal values to all trained parameters.
  void Shake(double std);

  int64_t sublayers() const { return sublayers_; }

  model::ParameterList parameters;

 private:
  int64_t width_;
  int64_t sublayers_;
  int64_t replicas_;
  std::unique_ptr<model::ResidualMethod> method_;
};

/// max |a - b| / max |b|.
double Error(const torch::Tensor& a, const torch::Tensor& b);

/// Worst difference over `parameters` between the gradient in a random
/// direction and the difference quotient of `loss`, relative to the latter or,
/// if that is larger, to 1e-4 of the largest. `loss` is called with parameters
/// moved in place.
double FiniteDifferenceError(
    const std::vector<model::NamedParameter>& parameters,
    const std::function<torch::Tensor()>& loss);

}  // namespace leadline::exact
