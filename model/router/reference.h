// The router written out plainly, under automatic differentiation: what tests
// hold the real one against.

#pragma once

#include <vector>

#include <torch/torch.h>

#include "model/router/route.h"

namespace leadline::model {

/// As Route, by autograd from candidates' values; `eps` as in their sources.
torch::Tensor RouteReference(const std::vector<Candidate>& candidates,
                             const RouterKey& router, double eps,
                             torch::Tensor* weights = nullptr);

}  // namespace leadline::model
