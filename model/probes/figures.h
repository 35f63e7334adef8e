// Figures of a pass by name, gathered where the tensors are and read once.
//
// Shape suffixes: R replicas, I index of a figure.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <torch/torch.h>

namespace leadline::model {

/// Mean weight of each source of one router.
struct RouterRow {
  std::vector<std::string> sources;  // labels, in list order
  std::vector<double> weights;
};

/// What was measured of one replica; docs/diagnostics.md has every name.
struct Figures {
  std::vector<RouterRow> map;  // by router; empty rows of those not there
  std::map<std::string, std::vector<double>> values;
};

/// Owned by one thread.
class FigureTable {
 public:
  /// Sets one element of a figure. What is never set below the largest index
  /// reads as nan.
  void Set(const std::string& name, int64_t index,
           const torch::Tensor& value_R);
  /// Sets elements 0, 1, ....
  void SetAll(const std::string& name, const torch::Tensor& values_RI);
  /// Forgets every figure whose name begins so.
  void Drop(std::string_view prefix);

  /// By name, for each replica, in float64. One copy from the device.
  std::vector<std::map<std::string, std::vector<double>>> Read(
      int64_t replicas) const;

 private:
  std::map<std::string, std::vector<torch::Tensor>> columns_R_;
};

/// Mean over tokens in float64: the last two axes of [..., B, T].
torch::Tensor TokenMean(const torch::Tensor& values_RBT);

/// sqrt(mean_d v^2 + eps) of every token, of [..., D].
torch::Tensor Rms(const torch::Tensor& values_RBTD, double eps);

}  // namespace leadline::model
