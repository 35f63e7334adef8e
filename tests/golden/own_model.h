// Our own reference numbers: whole decoders whose parameters and tokens come
// from named streams, so that a file holds results alone.

#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <torch/torch.h>

#include "model/spec/settings.h"

namespace leadline::golden {

/// The configurations, one a file, by the file's name without its ending.
std::map<std::string, nlohmann::json> OwnConfigs();

/// Draws a decoder and tokens and computes ModelNumbers.
std::map<std::string, torch::Tensor> OwnModelNumbers(
    const spec::Settings& settings, const nlohmann::json& config,
    torch::ScalarType type);

}  // namespace leadline::golden
