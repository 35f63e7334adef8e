// Draws of named random streams as tensors with a leading replica axis.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <torch/torch.h>

namespace leadline::model {

/// std times the unit normals of stream `init/<name>` of each seed, [R, sizes]:
/// element i (row-major inside one replica) is normal number i, scaled in
/// double and rounded once, to float32. Independent of threads.
torch::Tensor DrawNormal(const std::vector<int64_t>& seeds,
                         std::string_view name, torch::IntArrayRef sizes,
                         double std);

/// Uniforms in (0, 1) of stream `dropout/<site>/<step>` of each seed as
/// float64, [R, sizes]; element i is word number first + i.
torch::Tensor DrawDropout(const std::vector<int64_t>& seeds,
                          std::string_view site, int64_t step, int64_t first,
                          torch::IntArrayRef sizes);

}  // namespace leadline::model
