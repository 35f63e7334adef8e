#include "model/random_streams.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include <ATen/Parallel.h>

#include "common/random_stream.h"

namespace leadline::model {
namespace {

using torch::Tensor;

constexpr int64_t kChunk = 4096;  // draws a piece of work

/// Calls fill(stream of replica r, first, count, index of the first element).
template <typename Fill>
void EachChunk(const std::vector<int64_t>& seeds, const std::string& stream,
               int64_t elements, const Fill& fill) {
  const int64_t chunks = (elements + kChunk - 1) / kChunk;
  const auto replicas = static_cast<int64_t>(seeds.size());
  at::parallel_for(0, replicas * chunks, 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t r = i / chunks;
      const int64_t first = i % chunks * kChunk;
      const RandomStream draws(static_cast<uint64_t>(seeds[r]), stream);
      fill(draws, first, std::min(kChunk, elements - first),
           r * elements + first);
    }
  });
}

std::vector<int64_t> WithReplicas(size_t replicas, torch::IntArrayRef sizes) {
  std::vector<int64_t> result{static_cast<int64_t>(replicas)};
  result.insert(result.end(), sizes.begin(), sizes.end());
  return result;
}

}  // namespace

Tensor DrawNormal(const std::vector<int64_t>& seeds, std::string_view name,
                  torch::IntArrayRef sizes, double std) {
  Tensor result =
      torch::empty(WithReplicas(seeds.size(), sizes), torch::kFloat32);
  auto* const values = result.data_ptr<float>();
  EachChunk(seeds, "init/" + std::string(name), c10::multiply_integers(sizes),
            [&](const RandomStream& draws, int64_t first, int64_t count,
                int64_t index) {
              std::array<double, kChunk> normals;
              draws.Normals(first, std::span(normals).first(count));
              for (int64_t i = 0; i < count; ++i) {
                values[index + i] = static_cast<float>(std * normals[i]);
              }
            });
  return result;
}

Tensor DrawDropout(const std::vector<int64_t>& seeds, std::string_view site,
                   int64_t step, int64_t first, torch::IntArrayRef sizes) {
  Tensor result =
      torch::empty(WithReplicas(seeds.size(), sizes), torch::kFloat64);
  auto* const values = result.data_ptr<double>();
  EachChunk(seeds, "dropout/" + std::string(site) + "/" + std::to_string(step),
            c10::multiply_integers(sizes),
            [&](const RandomStream& draws, int64_t start, int64_t count,
                int64_t index) {
              std::array<uint32_t, kChunk> words;
              draws.Words(first + start, std::span(words).first(count));
              for (int64_t i = 0; i < count; ++i) {
                values[index + i] = (words[i] + 0.5) * 0x1p-32;
              }
            });
  return result;
}

}  // namespace leadline::model
