// Which of a tensor's types ranks exchange.

#pragma once

#include <torch/torch.h>

#include "worker/collective/ring/element.h"

namespace leadline::collective {

/// Throws c10::Error for a type that ranks do not exchange.
Element ElementOf(const torch::Tensor& tensor);

}  // namespace leadline::collective
