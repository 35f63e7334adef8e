// A small world for exact properties of models: settings, tokens, passes, and
// the two measures of agreement.
//
// Shape suffixes: R replicas, B sequences, T tokens, V vocabulary.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "model/decoder.h"
#include "model/spec/method_table.h"
#include "model/spec/settings.h"

namespace leadline::exact {

inline constexpr int64_t kVocabulary = 11;

/// Settings of a narrow decoder as they are given; `extra` wins.
spec::GivenSettings SmallSettings(const std::string& method, int64_t depth,
                                  const spec::GivenSettings& extra = {});
/// The same, resolved: a failure of the test if they do not resolve.
spec::Settings Small(const std::string& method, int64_t depth,
                     const spec::GivenSettings& extra = {});

/// Names of all methods, and of those that equal prenorm at their start.
std::vector<std::string> AllMethods();
std::vector<std::string> MethodsEqualAtStart();

/// Tokens [R, B, T] and targets of the same shape, the same for every call with
/// these arguments.
struct Text {
  torch::Tensor tokens_RBT;
  torch::Tensor targets_RBT;
};
Text RandomText(int64_t replicas, int64_t seed = 0, int64_t sequences = 2,
                int64_t tokens = 7);

/// Seeds 1, 2, ... of that many replicas.
std::vector<int64_t> SomeSeeds(int64_t replicas);

/// One forward and backward pass from sum_r loss_R.
struct PassResult {
  torch::Tensor logits_RBTV;
  torch::Tensor loss_R;
  std::map<std::string, torch::Tensor> gradients;  // zeros where none flowed
};
PassResult RunPass(const model::Decoder& decoder, const Text& text);

/// Gives every trained parameter normal values around its own, so that nothing
/// is at its special start. Replicas get different ones.
void Shake(const model::Decoder& decoder, double std, int64_t seed = 5);

/// The parameter of that name; a failure of the test if there is none.
torch::Tensor Parameter(const model::Decoder& decoder, const std::string& name);

/// Copies every parameter of `from` that `to` has too.
void CopyShared(const model::Decoder& from, const model::Decoder& to);

/// max |a - b| / max |b|.
double LogitError(const torch::Tensor& a, const torch::Tensor& b);
/// Worst |a - b|_2 / |b|_2 over the tensors of `b`, whose floor is 1e-4
/// (floats: 1e-3) of the largest: some vanish by symmetry and hold only
/// rounding.
double GradientError(const std::map<std::string, torch::Tensor>& a,
                     const std::map<std::string, torch::Tensor>& b);

inline torch::TensorOptions Doubles() { return torch::kFloat64; }
inline torch::TensorOptions Floats() { return torch::kFloat32; }

}  // namespace leadline::exact
