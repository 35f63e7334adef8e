// Kinds stream, signs and data: what is drawn, without a model.

#include <cstdint>
#include <span>

#include "common/random_stream.h"
#include "common/window_starts.h"
#include "model/methods/random_signs.h"
#include "tests/golden/kinds.h"

namespace leadline::golden {
namespace {

torch::Tensor ToTensor(const std::vector<int64_t>& values) {
  return torch::tensor(values, torch::kInt64);
}

}  // namespace

void CheckStreams(const GoldenFile& file, torch::ScalarType, Tally& tally) {
  const auto below =
      file.config().at("integer_below").get<std::vector<uint64_t>>();
  int64_t number = 0;
  for (const nlohmann::json& entry : file.config().at("streams")) {
    const std::string i = std::to_string(number++);
    const auto name = entry.at("stream").get<std::string>();
    if (Fnv1a(name) !=
        std::stoull(entry.at("id").get<std::string>(), nullptr, 16)) {
      tally.Fail("id of stream " + name);
    }
    const RandomStream stream(std::stoull(entry.at("seed").get<std::string>()),
                              name);
    std::vector<int64_t> words;
    for (int64_t w = 0; w < file.Tensor("out.words." + i).numel(); ++w) {
      words.push_back(stream.Word(w));
    }
    std::vector<double> normals(file.Tensor("out.normal." + i).numel());
    stream.Normals(0, std::span(normals));
    std::vector<int64_t> integers;
    for (size_t j = 0; j < below.size(); ++j) {
      integers.push_back(static_cast<int64_t>(stream.Integer(j, below[j])));
    }
    tally.Exact("words." + i, ToTensor(words), file.Tensor("out.words." + i));
    tally.Output("normal." + i, torch::tensor(normals, torch::kFloat64),
                 file.Tensor("out.normal." + i));
    tally.Exact("integer." + i, ToTensor(integers),
                file.Tensor("out.integer." + i));
  }
}

void CheckSigns(const GoldenFile& file, torch::ScalarType, Tally& tally) {
  int64_t number = 0;
  for (const nlohmann::json& entry : file.config().at("cases")) {
    const std::string i = std::to_string(number++);
    const std::vector<double> signs = model::RandomSigns(
        std::stoull(entry.at("seed").get<std::string>()),
        entry.at("block").get<int64_t>(), entry.at("m").get<int64_t>());
    tally.Exact("signs." + i, torch::tensor(signs, torch::kFloat64),
                file.Tensor("out.signs." + i));
  }
}

void CheckDataStarts(const GoldenFile& file, torch::ScalarType, Tally& tally) {
  const nlohmann::json& config = file.config();
  std::vector<torch::Tensor> starts;
  for (int64_t step = 0; step < config.at("steps").get<int64_t>(); ++step) {
    starts.push_back(ToTensor(WindowStarts(
        std::stoull(config.at("seed").get<std::string>()), step, 0,
        config.at("B").get<int64_t>(), config.at("Z").get<int64_t>(),
        config.at("T").get<int64_t>())));
  }
  tally.Exact("starts", torch::stack(starts), file.Tensor("out.starts"));
}

}  // namespace leadline::golden
