// The text of a large sweep: 4 depths, 10 methods and as many rates as it
// takes.

#pragma once

#include <cstdint>
#include <string>

namespace leadline::test {

inline std::string GridText(const std::string& name, int64_t trials,
                            int64_t seeds) {
  std::string text = "leadline: 1\nname: " + name +
                     "\nseeds: " + std::to_string(seeds) +
                     "\nsettings: {d_model: 32, n_heads: 2, context: 64, "
                     "batch_sequences: 8, steps: 2000}\naxes:\n"
                     "  depth: [4, 8, 12, 16]\n  dataset: [grammar16]\n"
                     "  method: [prenorm, rezero, layerscale, deepnorm, "
                     "attnres, block_attnres, wav, delta_attnres, "
                     "denseformer, hyper_connections]\n  lr: [";
  const int64_t rates = trials / seeds / 40;
  for (int64_t i = 0; i < rates; ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(1 + i) + "e-5";
  }
  return text + "]\n";
}

}  // namespace leadline::test
