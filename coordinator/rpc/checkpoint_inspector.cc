#include "coordinator/rpc/checkpoint_inspector.h"

#include <exception>

#include <absl/status/status.h>

#include "worker/checkpoint/checkpoint.h"

namespace leadline::rpc {

absl::StatusOr<spec_reader::CheckpointFacts> InspectCheckpoint(
    const std::string& folder) {
  try {
    const checkpoint::Checkpoint found(folder);
    found.Parameters();
    const checkpoint::Manifest& manifest = found.manifest();
    spec_reader::CheckpointFacts facts;
    facts.hash = found.hash();
    facts.start.settings = manifest.settings;
    facts.start.tokenizer = manifest.dataset.tokenizer;
    facts.start.vocabulary = manifest.vocabulary;
    facts.start.seeds = manifest.Seeds();
    return facts;
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(error.what());
  }
}

}  // namespace leadline::rpc
