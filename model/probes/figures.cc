#include "model/probes/figures.h"

#include <limits>

namespace leadline::model {

using torch::Tensor;

void FigureTable::Set(const std::string& name, int64_t index,
                      const Tensor& value_R) {
  std::vector<Tensor>& columns = columns_R_[name];
  if (static_cast<int64_t>(columns.size()) <= index) columns.resize(index + 1);
  columns[index] = value_R.detach().to(torch::kFloat64);
}

void FigureTable::SetAll(const std::string& name, const Tensor& values_RI) {
  columns_R_[name] = values_RI.detach().to(torch::kFloat64).unbind(1);
}

void FigureTable::Drop(std::string_view prefix) {
  std::erase_if(columns_R_, [&](const auto& figure) {
    return std::string_view(figure.first).starts_with(prefix);
  });
}

std::vector<std::map<std::string, std::vector<double>>> FigureTable::Read(
    int64_t replicas) const {
  std::vector<std::map<std::string, std::vector<double>>> figures(replicas);
  std::vector<Tensor> set_R;
  for (const auto& [name, columns] : columns_R_) {
    for (const Tensor& column : columns) {
      if (column.defined()) set_R.push_back(column);
    }
  }
  if (set_R.empty()) return figures;
  const Tensor values_IR = torch::stack(set_R).cpu().contiguous();
  const auto* values = values_IR.const_data_ptr<double>();
  for (const auto& [name, columns] : columns_R_) {
    for (const Tensor& column : columns) {
      for (int64_t r = 0; r < replicas; ++r) {
        figures[r][name].push_back(
            column.defined() ? values[r]
                             : std::numeric_limits<double>::quiet_NaN());
      }
      if (column.defined()) values += replicas;
    }
  }
  return figures;
}

Tensor TokenMean(const Tensor& values_RBT) {
  return values_RBT.mean({-2, -1}, /*keepdim=*/false, torch::kFloat64);
}

Tensor Rms(const Tensor& values_RBTD, double eps) {
  return (values_RBTD.square().mean(-1) + eps).sqrt();
}

}  // namespace leadline::model
