// One file of reference numbers, and the tally of how near a program came.

#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>
#include <torch/torch.h>

#include "tests/support/safetensors.h"

namespace leadline::golden {

/// Why a file cannot be held against the program: a method that is not there.
class NotThere : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Limits are relative errors in the 2-norm; see README of the golden folder.
struct Tolerance {
  double forward = 0;
  double gradient = 0;
  double gradient_floor = 1e-4;  // times the largest gradient
  double parameter = 0;          // of values at the end of training
};

class GoldenFile {
 public:
  /// Throws testing::BadSafetensors if the file is not one.
  explicit GoldenFile(const std::filesystem::path& path);

  const std::string& kind() const { return kind_; }
  const nlohmann::json& config() const { return config_; }
  const Tolerance& tolerance() const { return tolerance_; }

  bool Has(const std::string& name) const {
    return data_.tensors.contains(name);
  }
  /// Throws testing::BadSafetensors if it is missing.
  const torch::Tensor& Tensor(const std::string& name) const;
  /// All whose name begins with `prefix`, by the rest of their name.
  std::map<std::string, torch::Tensor> WithPrefix(
      const std::string& prefix) const;

 private:
  testing::Safetensors data_;
  std::string kind_;
  nlohmann::json config_;
  Tolerance tolerance_;
};

/// Collects differences; passes while all are within the limits.
class Tally {
 public:
  explicit Tally(Tolerance tolerance) : tolerance_(tolerance) {}

  /// |got - want| <= forward * |want|.
  void Output(const std::string& name, const torch::Tensor& got,
              const torch::Tensor& want);
  /// Equal, number for number.
  void Exact(const std::string& name, const torch::Tensor& got,
             const torch::Tensor& want);
  /// |got - want| <= gradient * max(|want|, floor * largest); `largest` is the
  /// largest |gradient| of the file. An undefined `got` is zero.
  void Gradient(const std::string& name, const torch::Tensor& got,
                const torch::Tensor& want, double largest);
  /// |got - want| <= limit in every element.
  void Absolute(const std::string& name, const torch::Tensor& got,
                const torch::Tensor& want, double limit);
  void Fail(const std::string& reason);

  bool passed() const { return reason_.empty(); }
  const std::string& reason() const { return reason_; }
  double worst_forward() const { return worst_forward_; }
  double worst_gradient() const { return worst_gradient_; }
  const Tolerance& tolerance() const { return tolerance_; }

 private:
  bool SameShape(const std::string& name, const torch::Tensor& got,
                 const torch::Tensor& want);

  Tolerance tolerance_;
  double worst_forward_ = 0;
  double worst_gradient_ = 0;
  std::string reason_;  // of the first failure
};

}  // namespace leadline::golden
