// Reads *.safetensors files: named tensors and a map of texts. Trusts nothing
// in the file: every offset and size is checked against what is really there.

#pragma once

#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

#include <torch/torch.h>

namespace leadline::testing {

/// The file cannot be read as safetensors; says why.
class BadSafetensors : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Safetensors {
  std::map<std::string, torch::Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Types F64, F32 and I64. Throws BadSafetensors.
Safetensors ParseSafetensors(std::string_view bytes);

/// Throws BadSafetensors, also if the file cannot be read.
Safetensors ReadSafetensors(const std::filesystem::path& file);

/// The bytes of a file that reads back the same.
std::string WriteSafetensors(const Safetensors& content);

}  // namespace leadline::testing
