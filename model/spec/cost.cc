#include "model/spec/cost.h"

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

/// Blocks begun before sublayer l reads: finished ones and the running one.
int64_t BlocksBegun(int64_t l, int64_t block_sublayers) {
  return (l + block_sublayers - 1) / block_sublayers;
}

bool Routes(const Settings& settings) {
  return settings.method() == "block_attnres" || settings.method() == "wav";
}

bool HasDetails(const Settings& settings) {
  return settings.method() == "wav" && settings.IsOn("details") &&
         settings.NumberUnlessWord("detail_bias").has_value();
}

int64_t CountBetas(const Settings& settings) {
  if (!HasDetails(settings)) return 0;
  const std::string& mode = settings.Word("detail_bias_mode");
  if (mode == "per_router") return 4 * settings.depth();
  return mode == "shared" ? 2 : 0;
}

/// Distinct tensors that some router reads, each normalised once.
int64_t CountSources(const Settings& settings) {
  if (!Routes(settings)) return 0;
  const int64_t sums_an_update = HasDetails(settings) ? 3 : 1;
  return 1 + 2 * settings.depth() * sums_an_update;
}

double ForwardFlopsPerToken(const Settings& settings,
                            std::optional<int64_t> vocabulary) {
  const Shape shape(settings);
  const auto width = static_cast<double>(shape.width);
  const double layer = 2.0 * static_cast<double>(shape.LayerMatrices()) +
                       2.0 * static_cast<double>(shape.context) * width;
  const double head = 2.0 * width * static_cast<double>(vocabulary.value_or(0));
  const double routing =
      width * (4.0 * static_cast<double>(SumOfSources(settings)) +
               2.0 * static_cast<double>(CountSources(settings)));
  return static_cast<double>(shape.layers) * layer + head + routing;
}

}  // namespace

int64_t CountMethodParameters(const Settings& settings) {
  const Shape shape(settings);
  const int64_t sublayers = 2 * shape.layers;
  const std::string& method = settings.method();
  if (method == "rezero") {
    const int64_t scales =
        settings.Word("per") == "layer" ? shape.layers : sublayers;
    return settings.IsOn("norm") ? scales : scales - sublayers * shape.width;
  }
  if (method == "layerscale") return sublayers * shape.width;
  if (method == "block_layerscale") {
    const int64_t length = settings.Integer("block_sublayers");
    return BlocksBegun(sublayers, length) * shape.width;
  }
  if (Routes(settings)) {
    return 2 * (sublayers + 1) * shape.width + CountBetas(settings);
  }
  return 0;
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
  if (!Routes(settings)) return 0;
  const int64_t length = settings.Integer("block_sublayers");
  const int64_t sources_a_block = HasDetails(settings) ? 3 : 1;
  const int64_t sublayers = 2 * settings.depth();
  int64_t sum = 1 + BlocksBegun(sublayers, length);  // the readout
  for (int64_t l = 0; l < sublayers; ++l) {
    sum += 1 + sources_a_block * BlocksBegun(l, length);
  }
  return sum;
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
