// Named parameters in the order they were declared, one value a replica.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <torch/torch.h>

namespace leadline::model {

struct NamedParameter {
  std::string name;      // as in the specification: "layers.0.attn.wq"
  torch::Tensor tensor;  // [R, ...]
  bool decay = false;
  bool of_method = false;  // learns at the router rate
  double rate = 1;         // factor of the rate it learns at
};

/// The groups of the optimiser a parameter falls into.
struct ParameterGroup {
  bool decay = false;
  bool of_method = false;
  double rate = 1;
};

/// Makes parameters and keeps them. A tensor it returned stays the one the list
/// holds: values change in place.
class ParameterList {
 public:
  /// `options` give type and device of what is made.
  ParameterList(std::vector<int64_t> seeds, torch::TensorOptions options);

  /// N(0, std) from stream `init/<name>`, [R, sizes].
  torch::Tensor Normal(const std::string& name, torch::IntArrayRef sizes,
                       double std, ParameterGroup group);
  torch::Tensor Constant(const std::string& name, torch::IntArrayRef sizes,
                         double value, ParameterGroup group);
  /// The values of `start`, the same in every replica, [R, start's sizes].
  torch::Tensor Given(const std::string& name, const torch::Tensor& start,
                      ParameterGroup group);
  /// Kept by name like the others but not trained.
  torch::Tensor ConstantBuffer(const std::string& name,
                               torch::IntArrayRef sizes, double value);
  /// The same with given values, [R, ...].
  torch::Tensor Buffer(const std::string& name, const torch::Tensor& value);

  void Append(const ParameterList& others);

  /// Copies into the parameter or buffer; the shapes must agree. Throws
  /// c10::Error if there is none of that name.
  void Set(std::string_view name, const torch::Tensor& value);

  const std::vector<NamedParameter>& trained() const { return trained_; }
  const std::vector<NamedParameter>& buffers() const { return buffers_; }
  const std::vector<int64_t>& seeds() const { return seeds_; }

 private:
  torch::Tensor Add(const std::string& name, torch::Tensor value,
                    ParameterGroup group);

  std::vector<int64_t> seeds_;
  torch::TensorOptions options_;
  std::vector<NamedParameter> trained_;
  std::vector<NamedParameter> buffers_;
};

}  // namespace leadline::model
