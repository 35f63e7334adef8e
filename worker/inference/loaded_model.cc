#include "worker/inference/loaded_model.h"

#include <utility>

#include "worker/checkpoint/bad_checkpoint.h"
#include "worker/checkpoint/export.h"
#include "worker/trainer/checkpoint_state.h"
#include "worker/trainer/train_loop.h"

namespace leadline::inference {
namespace {

LoadedModel Load(const checkpoint::Checkpoint& from,
                 std::vector<int64_t> seeds) {
  const checkpoint::Manifest& manifest = from.manifest();
  model::Decoder decoder(
      manifest.settings, manifest.vocabulary, seeds,
      trainer::ParameterOptions(manifest.settings, torch::kCPU));
  trainer::LoadWeights(from, seeds, decoder);
  return {manifest, std::move(seeds), std::move(decoder)};
}

}  // namespace

LoadedModel LoadAll(const std::filesystem::path& checkpoint) {
  const checkpoint::Checkpoint from(checkpoint);
  return Load(from, from.manifest().Seeds());
}

LoadedModel LoadReplica(const std::filesystem::path& checkpoint, int64_t seed) {
  const checkpoint::Checkpoint from(checkpoint);
  checkpoint::ReplicaOf(from, seed);  // names the folder if it is not there
  return Load(from, {seed});
}

int64_t OnlySeed(const checkpoint::Manifest& manifest) {
  const std::vector<int64_t> seeds = manifest.Seeds();
  if (seeds.size() == 1) return seeds.front();
  std::string text;
  for (const int64_t seed : seeds) text += " " + std::to_string(seed);
  throw checkpoint::BadCheckpoint(
      "the checkpoint holds several replicas: choose a seed of" + text);
}

}  // namespace leadline::inference
