// Block sums with one detail each (arXiv:2606.06564 v2), and the controls that
// tell what the detail is good for.

#pragma once

#include "model/methods/block_details.h"

namespace leadline::model {

/// The detail is Dsig, first half minus second; the bias is `haares.beta`
/// [R, n]. A pass keeps 4L tensors [R, B, T, D].
class Haares final : public BlockDetails {
 public:
  Haares(const spec::Settings& settings, const MethodSizes& sizes,
         ParameterList& parameters);
};

/// Each block's sum again in place of its detail: more weight on blocks, and
/// nothing else. Keeps 2L tensors.
class HaaresDup final : public BlockDetails {
 public:
  HaaresDup(const spec::Settings& settings, const MethodSizes& sizes,
            ParameterList& parameters);
};

/// Signs drawn once, `haares.signs` [R, n], as many +1 as -1 in a block.
class HaaresRandom final : public BlockDetails {
 public:
  HaaresRandom(const spec::Settings& settings, const MethodSizes& sizes,
               ParameterList& parameters);
};

/// As Haares with a bias that is not learnt.
class HaaresFixedBias final : public BlockDetails {
 public:
  HaaresFixedBias(const spec::Settings& settings, const MethodSizes& sizes,
                  ParameterList& parameters);
};

}  // namespace leadline::model
