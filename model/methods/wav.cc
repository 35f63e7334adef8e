#include "model/methods/wav.h"

namespace leadline::model {
namespace {

/// Attention sublayers are the even ones, and blocks are whole layers.
BlockBasis PhaseBasis() {
  return {"Dphi", "Pphi",
          [](int64_t i, int64_t) { return i % 2 == 0 ? 1.0 : -1.0; }};
}

}  // namespace

Wav::Wav(const spec::Settings& settings, const MethodSizes& sizes,
         ParameterList& parameters)
    : BlockDetails(settings, sizes, parameters,
                   {.bias_name = "wav.beta",
                    .bias_mode = DetailBiasModeOf(settings),
                    .details = {PhaseBasis(), SplitBasis()}}) {
  const int64_t length = settings.Integer("block_sublayers");
  TORCH_CHECK(length % 2 == 0 && length >= 4,
              "wav needs blocks of whole layers, two at least, not of ", length,
              " sublayers");
}

}  // namespace leadline::model
