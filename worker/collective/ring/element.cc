#include "worker/collective/ring/element.h"

namespace leadline::collective {
namespace {

template <typename Number>
void Add(std::byte* sums, const std::byte* others, size_t bytes) {
  auto* sum = reinterpret_cast<Number*>(sums);
  const auto* other = reinterpret_cast<const Number*>(others);
  const size_t count = bytes / sizeof(Number);
  for (size_t i = 0; i < count; ++i) sum[i] = other[i] + sum[i];
}

}  // namespace

size_t SizeOf(Element element) {
  switch (element) {
    case Element::kByte:
      return 1;
    case Element::kFloat32:
      return 4;
    case Element::kFloat64:
    case Element::kInt64:
      return 8;
  }
  return 1;
}

const char* NameOf(Element element) {
  switch (element) {
    case Element::kByte:
      return "byte";
    case Element::kFloat32:
      return "float32";
    case Element::kFloat64:
      return "float64";
    case Element::kInt64:
      return "int64";
  }
  return "unknown";
}

void AddTo(std::span<std::byte> sums, std::span<const std::byte> others,
           Element element) {
  switch (element) {
    case Element::kByte:
      return;
    case Element::kFloat32:
      return Add<float>(sums.data(), others.data(), sums.size());
    case Element::kFloat64:
      return Add<double>(sums.data(), others.data(), sums.size());
    case Element::kInt64:
      return Add<uint64_t>(sums.data(), others.data(), sums.size());
  }
}

}  // namespace leadline::collective
