#include "worker/checkpoint/tensor_layout.h"

#include <algorithm>
#include <bit>
#include <charconv>

#include "common/strict_json.h"
#include "model/spec/json_text.h"
#include "worker/checkpoint/bad_checkpoint.h"

namespace leadline::checkpoint {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr size_t kMostNameBytes = 200;
constexpr size_t kMostAxes = 8;

std::string_view Name(TensorType type) {
  return type == TensorType::kFloat64 ? "F64" : "F32";
}

int64_t BytesOf(TensorType type) {
  return type == TensorType::kFloat64 ? 8 : 4;
}

[[noreturn]] void Refuse(const std::string& what) { throw BadCheckpoint(what); }

// As in methods: words of letters, digits and _, joined by points.
bool IsTensorName(std::string_view name) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
  return !name.empty() && name.size() <= kMostNameBytes &&
         name.find_first_not_of(kLetters) == std::string_view::npos;
}

int64_t Size(const Json& json, const std::string& where) {
  int64_t number = -1;
  const char* end = json.text.data() + json.text.size();
  const auto result = std::from_chars(json.text.data(), end, number);
  if (json.kind != Json::Kind::kNumber || result.ec != std::errc{} ||
      result.ptr != end || number < 0) {
    Refuse(where + " has no size where one belongs");
  }
  return number;
}

struct Placed {
  TensorInfo info;
  int64_t begin = 0;
  int64_t end = 0;
};

const Json& Member(const Json& json, std::string_view key, Json::Kind kind,
                   const std::string& where) {
  const Json* member = FindMember(json, key);
  if (member == nullptr || member->kind != kind) {
    Refuse(where + " lacks its " + std::string(key));
  }
  return *member;
}

TensorType ReadType(const Json& json, const std::string& where) {
  for (const TensorType type : {TensorType::kFloat32, TensorType::kFloat64}) {
    if (json.text == Name(type)) return type;
  }
  Refuse(where + " has the type " + spec::JsonText(json.text.substr(0, 20)) +
         ", expected F32 or F64");
}

Placed ReadTensor(const std::string& name, const Json& json,
                  int64_t data_bytes) {
  if (!IsTensorName(name)) {
    Refuse("the header names a tensor " +
           spec::JsonText(name.substr(0, kMostNameBytes)) +
           ", which is no name of a parameter");
  }
  const std::string where = "tensor " + name;
  if (json.kind != Json::Kind::kObject || json.members.size() != 3) {
    Refuse(where + " is not described by dtype, shape and data_offsets");
  }
  Placed placed;
  placed.info.name = name;
  placed.info.type =
      ReadType(Member(json, "dtype", Json::Kind::kText, where), where);
  const Json& shape = Member(json, "shape", Json::Kind::kArray, where);
  if (shape.items.empty() || shape.items.size() > kMostAxes) {
    Refuse(where + " has no axis of replicas, or too many axes");
  }
  int64_t bytes = BytesOf(placed.info.type);
  for (const Json& item : shape.items) {
    const int64_t extent = Size(item, where);
    // The bound keeps the product from wrapping around.
    if (extent == 0 || bytes > data_bytes / extent) {
      Refuse(where + " is empty, or larger than the file");
    }
    bytes *= extent;
    placed.info.shape.push_back(extent);
  }
  const Json& offsets = Member(json, "data_offsets", Json::Kind::kArray, where);
  if (offsets.items.size() != 2) Refuse(where + " has no two data_offsets");
  placed.begin = Size(offsets.items[0], where);
  placed.end = Size(offsets.items[1], where);
  if (placed.begin > placed.end || placed.end > data_bytes) {
    Refuse(where + " lies outside of the file");
  }
  if (placed.end - placed.begin != bytes) {
    Refuse(where + " has a shape of " + std::to_string(bytes) +
           " bytes and data_offsets of " +
           std::to_string(placed.end - placed.begin));
  }
  return placed;
}

Json ParseHeader(std::string_view header) {
  try {
    Json json =
        ParseStrictJson(header, {.what = "the header",
                                 .bytes = static_cast<size_t>(kMostHeaderBytes),
                                 .levels = 4});
    if (json.kind == Json::Kind::kObject) return json;
  } catch (const JsonError& error) {
    Refuse(error.what());
  }
  Refuse("the header is no JSON object");
}

}  // namespace

int64_t TensorInfo::count() const {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

int64_t TensorInfo::bytes() const { return count() * BytesOf(type); }

std::string ToText(const TensorInfo& tensor) {
  std::string text = std::string(Name(tensor.type)) + " [";
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(tensor.shape[i]);
  }
  return text + "]";
}

std::string FormatTensorHeader(const std::vector<TensorInfo>& tensors) {
  std::string json = R"({"__metadata__":{"format":"pt"})";
  int64_t begin = 0;
  for (const TensorInfo& tensor : tensors) {
    json += ",\"" + tensor.name + "\":{\"dtype\":\"" +
            std::string(Name(tensor.type)) + "\",\"shape\":[";
    for (size_t i = 0; i < tensor.shape.size(); ++i) {
      json += (i > 0 ? "," : "") + std::to_string(tensor.shape[i]);
    }
    const int64_t end = begin + tensor.bytes();
    json += "],\"data_offsets\":[" + std::to_string(begin) + "," +
            std::to_string(end) + "]}";
    begin = end;
  }
  json += '}';
  json.resize((json.size() + 7) / 8 * 8, ' ');
  std::string bytes(sizeof(uint64_t), '\0');
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(json.size() >> (8 * i) & 0xffU);
  }
  return bytes + json;
}

std::vector<TensorInfo> ParseTensorHeader(std::string_view header,
                                          int64_t data_bytes) {
  const Json json = ParseHeader(header);
  std::vector<Placed> placed;
  for (const auto& [name, value] : json.members) {
    if (name == "__metadata__") continue;  // says nothing that counts
    placed.push_back(ReadTensor(name, value, data_bytes));
  }
  std::sort(placed.begin(), placed.end(),
            [](const Placed& a, const Placed& b) { return a.begin < b.begin; });
  std::vector<TensorInfo> tensors;
  int64_t end = 0;
  for (Placed& one : placed) {
    if (one.begin < end) {
      Refuse("tensor " + one.info.name + " overlaps the one before it");
    }
    if (one.begin > end) {
      Refuse("there is a gap before tensor " + one.info.name);
    }
    end = one.end;
    tensors.push_back(std::move(one.info));
  }
  if (end != data_bytes) {
    Refuse(std::to_string(data_bytes - end) +
           " bytes after the last tensor belong to none");
  }
  return tensors;
}

}  // namespace leadline::checkpoint
