// In which order a backward pass finishes gradients.

#pragma once

#include <functional>
#include <vector>

#include "model/parameters.h"
#include "worker/collective/communicator.h"

namespace leadline::trainer {

/// The parameters that are trained, those first whose gradients come first in
/// `backward`; those without one are last. Rank 0's order, on every rank, and a
/// function of the model alone: with it, what is summed where is the same in a
/// run that goes on from a checkpoint. Leaves no gradients. All ranks call it
/// at once.
std::vector<model::NamedParameter> InOrderOfGradients(
    const std::vector<model::NamedParameter>& parameters,
    collective::Communicator& communicator,
    const std::function<void()>& backward);

}  // namespace leadline::trainer
