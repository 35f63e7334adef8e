// The sizes and options all layers of a decoder share.

#pragma once

#include <cstdint>

#include <torch/torch.h>

namespace leadline::model {

/// The type of norms, positions and streams beside products of `type`.
inline torch::ScalarType WideType(torch::ScalarType type) {
  return type == torch::kBFloat16 ? torch::kFloat32 : type;
}

/// Standard deviations of a layer's matrices at the start.
struct MatrixStd {
  double plain = 0;  // wq, wk, wu
  double value = 0;  // wv, wg
  double out = 0;    // wo, wd
};

struct LayerShape {
  int64_t width = 0;     // D
  int64_t heads = 1;     // H
  int64_t kv_heads = 1;  // divides H
  int64_t hidden = 0;    // F
  bool qk_norm = false;
  double norm_eps = 1e-12;
  torch::ScalarType compute = torch::kFloat32;  // of matrix products

  int64_t head_width() const { return width / heads; }
};

}  // namespace leadline::model
