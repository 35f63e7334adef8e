// Block sums with two details each (arXiv:2606.06564 v1): how a block's sum
// came about, by kind of sublayer and by half.

#pragma once

#include "model/methods/block_details.h"

namespace leadline::model {

/// The details are Dphi (attention minus feed-forward) and Dsig (first half
/// minus second); the bias is `wav.beta` [R, n, 2]. A pass keeps 6L tensors
/// [R, B, T, D].
class Wav final : public BlockDetails {
 public:
  Wav(const spec::Settings& settings, const MethodSizes& sizes,
      ParameterList& parameters);
};

}  // namespace leadline::model
