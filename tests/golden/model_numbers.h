// What a decoder computes from given tokens, by the names of the golden files.

#pragma once

#include <map>
#include <string>

#include <torch/torch.h>

#include "model/decoder.h"
#include "tests/golden/golden_file.h"

namespace leadline::golden {

/// `out.logits`, `out.loss`, `out.weights.<q>` of routers with more than one
/// source, and `grad.<parameter>` of sum_r loss_R (zeros where nothing flows).
std::map<std::string, torch::Tensor> ModelNumbers(
    const model::Decoder& decoder, const torch::Tensor& tokens_RBT,
    const torch::Tensor& targets_RBT);

/// Holds them against the file: all of either side must be on the other.
void CompareModel(const GoldenFile& file,
                  std::map<std::string, torch::Tensor> numbers, Tally& tally);

}  // namespace leadline::golden
