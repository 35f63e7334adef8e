#include "model/spec/cost.h"

#include "model/spec/method_costs.h"
#include "model/spec/method_table.h"

namespace leadline::spec {
namespace {

/// The sizes that costs are made of.
struct Shape {
  explicit Shape(const Settings& settings)
      : layers(settings.depth()),
        width(settings.Integer("d_model")),
        hidden(settings.Integer("d_ff")),
        context(settings.Integer("context")),
        kv_width(width / settings.Integer("n_heads") *
                 settings.Integer("n_kv_heads")) {}

  int64_t layers;
  int64_t width;
  int64_t hidden;
  int64_t context;
  int64_t kv_width;  // of keys, and of values

  /// Weights of the matrices of one layer.
  int64_t LayerMatrices() const {
    return 2 * width * width + 2 * width * kv_width + 3 * width * hidden;
  }
};

MethodCost CostOf(const Settings& settings) {
  return FindMethod(settings.method())->cost(settings);
}

double ForwardFlopsPerToken(const Settings& settings,
                            std::optional<int64_t> vocabulary) {
  const Shape shape(settings);
  const auto width = static_cast<double>(shape.width);
  const double layer = 2.0 * static_cast<double>(shape.LayerMatrices()) +
                       2.0 * static_cast<double>(shape.context) * width;
  const double head = 2.0 * width * static_cast<double>(vocabulary.value_or(0));
  const MethodCost method = CostOf(settings);
  const double routing =
      width * (4.0 * static_cast<double>(method.sum_of_sources) +
               2.0 * static_cast<double>(method.sources));
  return static_cast<double>(shape.layers) * layer + head + routing +
         method.other_flops_per_token;
}

}  // namespace

int64_t CountMethodParameters(const Settings& settings) {
  const int64_t value_weights = settings.Word("value_residual") == "learned"
                                    ? 2 * (settings.depth() - 1)
                                    : 0;
  return CostOf(settings).parameters + value_weights;
}

int64_t CountParameters(const Settings& settings,
                        std::optional<int64_t> vocabulary) {
  const Shape shape(settings);
  const int64_t tables = settings.IsOn("tied_head") ? 1 : 2;
  return tables * vocabulary.value_or(0) * shape.width +
         shape.layers * (shape.LayerMatrices() + 2 * shape.width) +
         shape.width + CountMethodParameters(settings);
}

int64_t SumOfSources(const Settings& settings) {
  return CostOf(settings).sum_of_sources;
}

double CountTrainingFlops(const Settings& settings,
                          std::optional<int64_t> vocabulary) {
  const double tokens =
      static_cast<double>(settings.Integer("steps")) *
      static_cast<double>(settings.Integer("batch_sequences")) *
      static_cast<double>(settings.Integer("context"));
  return 3.0 * tokens * ForwardFlopsPerToken(settings, vocabulary);
}

}  // namespace leadline::spec
