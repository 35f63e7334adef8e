#include "tests/support/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include <nlohmann/json.hpp>

namespace leadline::testing {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little);

struct Type {
  std::string_view name;
  torch::ScalarType type;
  uint64_t bytes;
};

constexpr Type kTypes[] = {{"F64", torch::kFloat64, 8},
                           {"F32", torch::kFloat32, 4},
                           {"I64", torch::kInt64, 8}};

const Type& TypeOf(const std::string& tensor, const json& entry) {
  const std::string& name = entry.at("dtype").get_ref<const json::string_t&>();
  for (const Type& type : kTypes) {
    if (type.name == name) return type;
  }
  throw BadSafetensors("tensor " + tensor + " has the unknown type " + name);
}

uint64_t Unsigned(const std::string& tensor, const json& number) {
  if (!number.is_number_unsigned()) {
    throw BadSafetensors("tensor " + tensor + " has " + number.dump() +
                         " where a size or offset belongs");
  }
  return number.get<uint64_t>();
}

torch::Tensor ReadTensor(const std::string& name, const json& entry,
                         std::string_view data) {
  const Type& type = TypeOf(name, entry);
  const json& offsets = entry.at("data_offsets");
  if (!offsets.is_array() || offsets.size() != 2) {
    throw BadSafetensors("tensor " + name + " has no two data_offsets");
  }
  const uint64_t begin = Unsigned(name, offsets[0]);
  const uint64_t end = Unsigned(name, offsets[1]);
  if (begin > end || end > data.size()) {
    throw BadSafetensors("tensor " + name + " lies outside of the file");
  }
  if (!entry.at("shape").is_array()) {
    throw BadSafetensors("tensor " + name + " has no list as its shape");
  }
  std::vector<int64_t> shape;
  uint64_t bytes = type.bytes;
  for (const json& size : entry.at("shape")) {
    const uint64_t extent = Unsigned(name, size);
    // The bound keeps the product from wrapping around.
    if (extent > data.size() || (extent != 0 && bytes > data.size() / extent)) {
      throw BadSafetensors("tensor " + name + " is larger than the file");
    }
    bytes *= extent;
    shape.push_back(static_cast<int64_t>(extent));
  }
  if (bytes != end - begin) {
    throw BadSafetensors("tensor " + name + " has a shape of " +
                         std::to_string(bytes) + " bytes and offsets of " +
                         std::to_string(end - begin));
  }
  torch::Tensor tensor = torch::empty(shape, type.type);
  if (bytes > 0) std::memcpy(tensor.data_ptr(), data.data() + begin, bytes);
  return tensor;
}

}  // namespace

Safetensors ParseSafetensors(std::string_view bytes) {
  uint64_t header = 0;
  if (bytes.size() < sizeof(header)) throw BadSafetensors("file is too short");
  std::memcpy(&header, bytes.data(), sizeof(header));
  bytes.remove_prefix(sizeof(header));
  if (header > bytes.size()) {
    throw BadSafetensors("header of " + std::to_string(header) +
                         " bytes in a file that has " +
                         std::to_string(bytes.size()));
  }
  try {
    const json entries = json::parse(bytes.substr(0, header));
    if (!entries.is_object()) throw BadSafetensors("header is no JSON object");
    Safetensors result;
    for (const auto& [name, entry] : entries.items()) {
      if (name == "__metadata__") {
        result.metadata = entry.get<std::map<std::string, std::string>>();
      } else {
        result.tensors[name] = ReadTensor(name, entry, bytes.substr(header));
      }
    }
    return result;
  } catch (const json::exception& error) {
    throw BadSafetensors(std::string("header: ") + error.what());
  }
}

Safetensors ReadSafetensors(const std::filesystem::path& file) {
  if (!std::filesystem::is_regular_file(file)) {
    throw BadSafetensors("is no file");
  }
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream bytes;
  if (!stream.is_open() || !(bytes << stream.rdbuf())) {
    throw BadSafetensors("cannot be read");
  }
  return ParseSafetensors(bytes.str());
}

std::string WriteSafetensors(const Safetensors& content) {
  json header = {{"__metadata__", content.metadata}};
  std::string data;
  for (const auto& [name, value] : content.tensors) {
    const torch::Tensor tensor = value.detach().contiguous();
    const auto* const type =
        std::ranges::find(kTypes, tensor.scalar_type(), &Type::type);
    TORCH_CHECK(type != std::end(kTypes), "tensor ", name, " has no type here");
    const size_t begin = data.size();
    data.append(static_cast<const char*>(tensor.const_data_ptr()),
                tensor.nbytes());
    header[name] = {{"dtype", type->name},
                    {"shape", tensor.sizes().vec()},
                    {"data_offsets", {begin, data.size()}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t size = text.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof(size)) +
         text + data;
}

}  // namespace leadline::testing
