// Makes sure that all ranks train one model.

#pragma once

#include <cstdint>

#include "model/decoder.h"
#include "worker/collective/communicator.h"

namespace leadline::trainer {

/// Compares the parameters of all ranks by their SHA-256. Throws OperationError
/// that names step, rank and the first tensor that differs. Nothing for a rank
/// alone.
void CheckSameParameters(const model::Decoder& decoder,
                         collective::Communicator& communicator, int64_t step);

}  // namespace leadline::trainer
