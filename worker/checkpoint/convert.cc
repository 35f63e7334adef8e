#include "worker/checkpoint/convert.h"

#include <cstring>
#include <utility>

#include "model/spec/conversion.h"
#include "model/spec/identity.h"
#include "worker/checkpoint/bad_checkpoint.h"
#include "worker/checkpoint/draft.h"

namespace leadline::checkpoint {
namespace {

struct Filled {
  TensorInfo tensor;
  double value = 0;
};

std::vector<Filled> Added(const spec::Settings& settings, int64_t replicas,
                          TensorType type) {
  std::vector<Filled> added;
  for (const spec::AddedParameter& one : spec::AddedParameters(settings)) {
    Filled filled{{one.name, type, {replicas}}, one.value};
    filled.tensor.shape.insert(filled.tensor.shape.end(), one.sizes.begin(),
                               one.sizes.end());
    added.push_back(std::move(filled));
  }
  return added;
}

template <typename Real>
std::string Bytes(double value, int64_t count) {
  const std::vector<Real> numbers(static_cast<size_t>(count),
                                  static_cast<Real>(value));
  std::string bytes(numbers.size() * sizeof(Real), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

std::string Bytes(const Filled& filled) {
  const int64_t count = filled.tensor.count();
  return filled.tensor.type == TensorType::kFloat64
             ? Bytes<double>(filled.value, count)
             : Bytes<float>(filled.value, count);
}

FileEntry WriteParameters(const Checkpoint& from,
                          const spec::Settings& settings, const Draft& draft) {
  TensorReader reader = from.Parameters();
  std::vector<TensorInfo> tensors = reader.tensors();
  if (tensors.empty()) {
    throw BadCheckpoint(from.folder().string() + " has no parameters");
  }
  const auto added = Added(settings, from.replicas(), tensors.front().type);
  for (const Filled& filled : added) tensors.push_back(filled.tensor);
  TensorWriter writer = draft.NewFile(kParametersFile, tensors);
  for (const TensorInfo& tensor : reader.tensors()) {
    std::string bytes(static_cast<size_t>(tensor.bytes()), '\0');
    reader.Read(bytes.data(), tensor.bytes());
    writer.Append(bytes);
  }
  reader.Finish();
  for (const Filled& filled : added) writer.Append(Bytes(filled));
  return writer.Finish();
}

}  // namespace

Conversion Convert(const Checkpoint& from, const spec::Settings& settings,
                   const std::filesystem::path& to) {
  Draft draft(to);
  Manifest manifest = from.manifest();
  manifest.settings = settings;
  manifest.cell_hash = spec::CellHash(settings, manifest.dataset);
  manifest.origin = {"convert", from.hash(), from.manifest().settings.method(),
                     from.manifest().step};
  manifest.step = 0;
  manifest.interval_steps = 0;
  for (ReplicaProgress& replica : manifest.replicas) {
    replica.best_step = 0;
    replica.sums = {};
  }
  manifest.files = {WriteParameters(from, settings, draft)};
  const Draft::Done done = draft.Commit(manifest);
  return {done.hash, std::move(manifest), done.bytes};
}

}  // namespace leadline::checkpoint
