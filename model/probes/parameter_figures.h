// Figures that are parameters of a method, or their norms.

#pragma once

#include "model/decoder.h"
#include "model/probes/figures.h"

namespace leadline::model {

/// Writes `router.w_norm`, `detail.beta.*`, `null.logit`, `gate.value`,
/// `scale.alpha`, `scale.lambda_rms` and `dwa.weights.<layer>`, those that the
/// decoder has.
void AddParameterFigures(const Decoder& decoder, FigureTable& table);

}  // namespace leadline::model
