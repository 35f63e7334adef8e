#include "model/methods/haares.h"

#include <utility>
#include <vector>

#include "model/methods/random_signs.h"

namespace leadline::model {
namespace {

using torch::Tensor;

/// The block's sum, under the labels of a detail.
BlockBasis CopyBasis() {
  BlockBasis basis = SplitBasis();
  basis.sign = [](int64_t, int64_t) { return 1.0; };
  return basis;
}

/// [R, n].
Tensor DrawSigns(const std::vector<int64_t>& seeds, const BlockGrid& grid) {
  std::vector<double> signs;
  for (const int64_t seed : seeds) {
    for (int64_t b = 0; b < grid.blocks(); ++b) {
      const std::vector<double> block =
          RandomSigns(static_cast<uint64_t>(seed), b, grid.length(b));
      signs.insert(signs.end(), block.begin(), block.end());
    }
  }
  return torch::tensor(signs, torch::kFloat64)
      .view({static_cast<int64_t>(seeds.size()), grid.sublayers});
}

BlockBasis RandomBasis(const spec::Settings& settings, const MethodSizes& sizes,
                       ParameterList& parameters) {
  BlockBasis basis = SplitBasis();
  if (!HasDetails(settings)) return basis;
  const BlockGrid grid{sizes.sublayers, settings.Integer("block_sublayers")};
  basis.signs_R =
      parameters.Buffer("haares.signs", DrawSigns(parameters.seeds(), grid))
          .unbind(1);
  return basis;
}

void CheckLength(const spec::Settings& settings) {
  TORCH_CHECK(settings.Integer("block_sublayers") >= 2,
              "the detail of a block needs two sublayers at least");
}

}  // namespace

Haares::Haares(const spec::Settings& settings, const MethodSizes& sizes,
               ParameterList& parameters)
    : BlockDetails(settings, sizes, parameters,
                   {.bias_name = "haares.beta",
                    .bias_mode = DetailBiasModeOf(settings),
                    .only_detail = true,
                    .details = {SplitBasis()}}) {
  CheckLength(settings);
}

HaaresDup::HaaresDup(const spec::Settings& settings, const MethodSizes& sizes,
                     ParameterList& parameters)
    : BlockDetails(settings, sizes, parameters,
                   {.bias_name = "haares.beta",
                    .bias_mode = DetailBiasModeOf(settings),
                    .only_detail = true,
                    .details = {CopyBasis()}}) {
  CheckLength(settings);
}

HaaresRandom::HaaresRandom(const spec::Settings& settings,
                           const MethodSizes& sizes, ParameterList& parameters)
    : BlockDetails(settings, sizes, parameters,
                   {.bias_name = "haares.beta",
                    .bias_mode = DetailBiasModeOf(settings),
                    .only_detail = true,
                    .details = {RandomBasis(settings, sizes, parameters)}}) {
  CheckLength(settings);
}

HaaresFixedBias::HaaresFixedBias(const spec::Settings& settings,
                                 const MethodSizes& sizes,
                                 ParameterList& parameters)
    : BlockDetails(settings, sizes, parameters,
                   {.bias_name = "haares.beta",
                    .bias_mode = DetailBiasMode::kFixed,
                    .only_detail = true,
                    .details = {SplitBasis()}}) {
  CheckLength(settings);
}

}  // namespace leadline::model
