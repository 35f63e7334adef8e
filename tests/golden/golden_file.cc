#include "tests/golden/golden_file.h"

#include <algorithm>
#include <cmath>

namespace leadline::golden {
namespace {

double Norm(const torch::Tensor& tensor) {
  return tensor.to(torch::kFloat64).norm().item<double>();
}

double Distance(const torch::Tensor& a, const torch::Tensor& b) {
  return Norm(a.to(torch::kFloat64) - b.to(torch::kFloat64));
}

std::string Text(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2e", value);
  return text;
}

}  // namespace

GoldenFile::GoldenFile(const std::filesystem::path& path)
    : data_(testing::ReadSafetensors(path)) {
  try {
    kind_ = data_.metadata.at("kind");
    config_ = nlohmann::json::parse(data_.metadata.at("config"));
    const auto limits = nlohmann::json::parse(data_.metadata.at("tolerance"));
    tolerance_.forward = limits.value("forward", 0.0);
    tolerance_.gradient = limits.value("gradient", 0.0);
    tolerance_.parameter = limits.value("parameter", 0.0);
  } catch (const std::exception& error) {
    throw testing::BadSafetensors(std::string("metadata: ") + error.what());
  }
}

const torch::Tensor& GoldenFile::Tensor(const std::string& name) const {
  const auto found = data_.tensors.find(name);
  if (found == data_.tensors.end()) {
    throw testing::BadSafetensors("there is no tensor " + name);
  }
  return found->second;
}

std::map<std::string, torch::Tensor> GoldenFile::WithPrefix(
    const std::string& prefix) const {
  std::map<std::string, torch::Tensor> result;
  for (const auto& [name, tensor] : data_.tensors) {
    if (name.starts_with(prefix)) result[name.substr(prefix.size())] = tensor;
  }
  return result;
}

bool Tally::SameShape(const std::string& name, const torch::Tensor& got,
                      const torch::Tensor& want) {
  if (got.sizes() == want.sizes()) return true;
  std::ostringstream text;
  text << name << " has shape " << got.sizes() << ", not " << want.sizes();
  Fail(text.str());
  return false;
}

void Tally::Output(const std::string& name, const torch::Tensor& got,
                   const torch::Tensor& want) {
  if (!SameShape(name, got, want)) return;
  const double size = Norm(want);
  const double distance = Distance(got, want);
  const double error = size > 0 ? distance / size : distance;
  worst_forward_ = std::max(worst_forward_, error);
  // Written so that a NaN fails.
  if (!(distance <= tolerance_.forward * size)) {
    Fail(name + " differs by " + Text(error));
  }
}

void Tally::Exact(const std::string& name, const torch::Tensor& got,
                  const torch::Tensor& want) {
  if (!SameShape(name, got, want)) return;
  if (!torch::equal(got, want)) Fail(name + " is not equal");
}

void Tally::Gradient(const std::string& name, const torch::Tensor& got,
                     const torch::Tensor& want, double largest) {
  const torch::Tensor value = got.defined() ? got : torch::zeros_like(want);
  if (!SameShape(name, value, want)) return;
  const double size = std::max(Norm(want), tolerance_.gradient_floor * largest);
  const double distance = Distance(value, want);
  const double error = size > 0 ? distance / size : distance;
  worst_gradient_ = std::max(worst_gradient_, error);
  if (!(distance <= tolerance_.gradient * size)) {
    Fail(name + " differs by " + Text(error));
  }
}

void Tally::Absolute(const std::string& name, const torch::Tensor& got,
                     const torch::Tensor& want, double limit) {
  if (!SameShape(name, got, want)) return;
  const double error = (got.to(torch::kFloat64) - want.to(torch::kFloat64))
                           .abs()
                           .max()
                           .item<double>();
  worst_forward_ = std::max(worst_forward_, error);
  if (!(error <= limit)) Fail(name + " differs by " + Text(error));
}

void Tally::Fail(const std::string& reason) {
  if (reason_.empty()) reason_ = reason;
}

}  // namespace leadline::golden
