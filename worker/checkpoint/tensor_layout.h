// Which tensors a safetensors file holds, and where.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace leadline::checkpoint {

enum class TensorType { kFloat32, kFloat64 };

/// A tensor of a file; its first axis is that of the replicas.
struct TensorInfo {
  std::string name;
  TensorType type = TensorType::kFloat32;
  std::vector<int64_t> shape;

  int64_t count() const;
  int64_t bytes() const;
  bool operator==(const TensorInfo&) const = default;
};

/// "F32 [3, 16, 24]".
std::string ToText(const TensorInfo& tensor);

/// A longer header belongs to no checkpoint of ours.
inline constexpr int64_t kMostHeaderBytes = int64_t{2} << 20U;

/// The bytes before the data: the length of the header and the header, such
/// that the data of tensors in this order lie without gaps from a multiple of
/// eight on.
std::string FormatTensorHeader(const std::vector<TensorInfo>& tensors);

/// The tensors of a header, without its length, in the order of their data.
/// They fill `data_bytes` without gap or overlap. Throws BadCheckpoint with
/// what is wrong, the file left out.
std::vector<TensorInfo> ParseTensorHeader(std::string_view header,
                                          int64_t data_bytes);

}  // namespace leadline::checkpoint
