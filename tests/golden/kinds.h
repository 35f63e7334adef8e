// The kinds of golden files, each checked in a file of its own.

#pragma once

#include <torch/torch.h>

#include "tests/golden/golden_file.h"

namespace leadline::golden {

/// What is computed, in which precision. Kinds without rounding ignore it.
using Check = void (*)(const GoldenFile& file, torch::ScalarType type,
                       Tally& tally);

void CheckStreams(const GoldenFile& file, torch::ScalarType type, Tally& tally);
void CheckSigns(const GoldenFile& file, torch::ScalarType type, Tally& tally);
void CheckDataStarts(const GoldenFile& file, torch::ScalarType type,
                     Tally& tally);
void CheckRouter(const GoldenFile& file, torch::ScalarType type, Tally& tally);
void CheckInit(const GoldenFile& file, torch::ScalarType type, Tally& tally);
void CheckWiring(const GoldenFile& file, torch::ScalarType type, Tally& tally);
void CheckModel(const GoldenFile& file, torch::ScalarType type, Tally& tally);
void CheckTrain(const GoldenFile& file, torch::ScalarType type, Tally& tally);
void CheckOwnModel(const GoldenFile& file, torch::ScalarType type,
                   Tally& tally);

/// The check of a file's kind. Throws NotThere for one we do not have.
Check CheckOf(const std::string& kind);

/// Limits in this precision: the file's own in float64.
Tolerance ToleranceOf(const GoldenFile& file, torch::ScalarType type);

}  // namespace leadline::golden
