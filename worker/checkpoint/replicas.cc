#include "worker/checkpoint/replicas.h"

#include <set>

#include "worker/checkpoint/bad_checkpoint.h"
#include "worker/checkpoint/draft.h"

namespace leadline::checkpoint {
namespace {

std::vector<TensorInfo> WithReplicas(std::vector<TensorInfo> tensors,
                                     int64_t replicas) {
  for (TensorInfo& tensor : tensors) tensor.shape.front() = replicas;
  return tensors;
}

// A replica's part of a tensor is one run of bytes.
FileEntry SplitFile(TensorReader reader, int64_t replica, int64_t replicas,
                    TensorWriter writer) {
  for (const TensorInfo& tensor : reader.tensors()) {
    const int64_t part = tensor.bytes() / replicas;
    std::string bytes(static_cast<size_t>(part), '\0');
    for (int64_t r = 0; r < replicas; ++r) {
      reader.Read(bytes.data(), part);
      if (r == replica) writer.Append(bytes);
    }
  }
  reader.Finish();
  return writer.Finish();
}

FileEntry JoinFiles(std::vector<TensorReader> readers, TensorWriter writer) {
  for (size_t i = 0; i < readers.front().tensors().size(); ++i) {
    for (TensorReader& reader : readers) {
      std::string bytes(static_cast<size_t>(reader.tensors()[i].bytes()), '\0');
      reader.Read(bytes.data(), static_cast<int64_t>(bytes.size()));
      writer.Append(bytes);
    }
  }
  for (TensorReader& reader : readers) reader.Finish();
  return writer.Finish();
}

TensorReader Open(const Checkpoint& checkpoint, std::string_view file) {
  return file == kParametersFile ? checkpoint.Parameters()
                                 : checkpoint.Moments();
}

void CheckTogether(const std::vector<const Checkpoint*>& parts) {
  if (parts.empty()) throw BadCheckpoint("there is nothing to join");
  const Checkpoint& first = *parts.front();
  std::set<int64_t> seeds;
  for (const Checkpoint* part : parts) {
    const Manifest& manifest = part->manifest();
    const std::string pair =
        first.folder().string() + " and " + part->folder().string();
    if (manifest.cell_hash != first.manifest().cell_hash ||
        manifest.settings != first.manifest().settings) {
      throw BadCheckpoint(pair + " are not of one cell");
    }
    if (manifest.step != first.manifest().step ||
        manifest.interval_steps != first.manifest().interval_steps ||
        part->has_moments() != first.has_moments()) {
      throw BadCheckpoint(pair + " are not of one step");
    }
    for (const int64_t seed : manifest.Seeds()) {
      if (seeds.insert(seed).second) continue;
      throw BadCheckpoint(pair + " both hold the seed " + std::to_string(seed));
    }
  }
}

std::vector<TensorReader> OpenAll(const std::vector<const Checkpoint*>& parts,
                                  std::string_view file) {
  std::vector<TensorReader> readers;
  for (const Checkpoint* part : parts) {
    readers.push_back(Open(*part, file));
    if (WithReplicas(readers.back().tensors(), 1) ==
        WithReplicas(readers.front().tensors(), 1)) {
      continue;
    }
    throw BadCheckpoint(parts.front()->folder().string() + " and " +
                        part->folder().string() + " hold different tensors");
  }
  return readers;
}

}  // namespace

std::string SplitOff(const Checkpoint& from, int64_t replica,
                     const std::filesystem::path& to) {
  if (replica < 0 || replica >= from.replicas()) {
    throw BadCheckpoint(from.folder().string() + " has no replica " +
                        std::to_string(replica));
  }
  Draft draft(to);
  Manifest manifest = from.manifest();
  manifest.replicas = {from.manifest().replicas[static_cast<size_t>(replica)]};
  for (FileEntry& file : manifest.files) {
    TensorReader reader = Open(from, file.name);
    TensorWriter writer =
        draft.NewFile(file.name, WithReplicas(reader.tensors(), 1));
    file = SplitFile(std::move(reader), replica, from.replicas(),
                     std::move(writer));
  }
  return draft.Commit(manifest).hash;
}

std::string Join(const std::vector<const Checkpoint*>& parts,
                 const std::filesystem::path& to) {
  CheckTogether(parts);
  Draft draft(to);
  Manifest manifest = parts.front()->manifest();
  manifest.replicas.clear();
  for (const Checkpoint* part : parts) {
    manifest.replicas.insert(manifest.replicas.end(),
                             part->manifest().replicas.begin(),
                             part->manifest().replicas.end());
  }
  const auto replicas = static_cast<int64_t>(manifest.replicas.size());
  for (FileEntry& file : manifest.files) {
    std::vector<TensorReader> readers = OpenAll(parts, file.name);
    TensorWriter writer = draft.NewFile(
        file.name, WithReplicas(readers.front().tensors(), replicas));
    file = JoinFiles(std::move(readers), std::move(writer));
  }
  return draft.Commit(manifest).hash;
}

}  // namespace leadline::checkpoint
