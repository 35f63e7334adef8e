#include "model/parameters.h"

#include <utility>

#include "model/random_streams.h"

namespace leadline::model {

using torch::Tensor;

ParameterList::ParameterList(std::vector<int64_t> seeds,
                             torch::TensorOptions options)
    : seeds_(std::move(seeds)), options_(options) {
  TORCH_CHECK(!seeds_.empty(),
              "a model needs the seed of at least one replica");
}

Tensor ParameterList::Normal(const std::string& name, torch::IntArrayRef sizes,
                             double std, ParameterGroup group) {
  return Add(name, DrawNormal(seeds_, name, sizes, std).to(options_), group);
}

Tensor ParameterList::Constant(const std::string& name,
                               torch::IntArrayRef sizes, double value,
                               ParameterGroup group) {
  std::vector<int64_t> shape{static_cast<int64_t>(seeds_.size())};
  shape.insert(shape.end(), sizes.begin(), sizes.end());
  return Add(name, torch::full(shape, value, options_), group);
}

Tensor ParameterList::Given(const std::string& name, const Tensor& start,
                            ParameterGroup group) {
  std::vector<int64_t> shape(static_cast<size_t>(start.dim()), -1);
  shape.insert(shape.begin(), static_cast<int64_t>(seeds_.size()));
  return Add(name, start.expand(shape).to(options_).clone(), group);
}

Tensor ParameterList::ConstantBuffer(const std::string& name,
                                     torch::IntArrayRef sizes, double value) {
  const Tensor tensor = Constant(name, sizes, value, {});
  buffers_.push_back(trained_.back());
  trained_.pop_back();
  return tensor.requires_grad_(false);
}

Tensor ParameterList::Buffer(const std::string& name, const Tensor& value) {
  buffers_.push_back({name, value.to(options_)});
  return buffers_.back().tensor;
}

void ParameterList::Append(const ParameterList& others) {
  trained_.insert(trained_.end(), others.trained_.begin(),
                  others.trained_.end());
  buffers_.insert(buffers_.end(), others.buffers_.begin(),
                  others.buffers_.end());
}

void ParameterList::Set(std::string_view name, const Tensor& value) {
  for (const auto* list : {&trained_, &buffers_}) {
    for (const NamedParameter& parameter : *list) {
      if (parameter.name != name) continue;
      TORCH_CHECK(parameter.tensor.sizes() == value.sizes(), "parameter ", name,
                  " has shape ", parameter.tensor.sizes(), ", not ",
                  value.sizes());
      const torch::NoGradGuard no_grad;
      Tensor(parameter.tensor).copy_(value);
      return;
    }
  }
  TORCH_CHECK(false, "the model has no parameter ", name);
}

Tensor ParameterList::Add(const std::string& name, Tensor value,
                          ParameterGroup group) {
  value.requires_grad_(true);
  trained_.push_back({name, value, group.decay, group.of_method, group.rate});
  return value;
}

}  // namespace leadline::model
