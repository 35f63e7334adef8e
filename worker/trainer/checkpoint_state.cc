#include "worker/trainer/checkpoint_state.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "worker/checkpoint/bad_checkpoint.h"

namespace leadline::trainer {

using checkpoint::BadCheckpoint;
using checkpoint::TensorInfo;
using checkpoint::TensorType;
using torch::Tensor;

namespace {

NamedTensors Parameters(const model::Decoder& decoder) {
  NamedTensors named;
  for (const model::NamedParameter& p : decoder.parameters_in_order()) {
    named.emplace_back(p.name, p.tensor.detach());
  }
  return named;
}

NamedTensors Moments(const AdamW& optimizer) {
  NamedTensors named;
  for (size_t i = 0; i < optimizer.parameters().size(); ++i) {
    const std::string& name = optimizer.parameters()[i].name;
    named.emplace_back("first." + name, optimizer.first_moments()[i]);
    named.emplace_back("second." + name, optimizer.second_moments()[i]);
  }
  return named;
}

NamedTensors Copied(NamedTensors named) {
  for (auto& [name, tensor] : named) {
    tensor =
        tensor.to(torch::kCPU, tensor.scalar_type(), /*non_blocking=*/false,
                  /*copy=*/true, torch::MemoryFormat::Contiguous);
  }
  return named;
}

torch::ScalarType TorchType(TensorType type) {
  return type == TensorType::kFloat64 ? torch::kFloat64 : torch::kFloat32;
}

TensorInfo InfoOf(const std::string& name, const Tensor& tensor) {
  const bool wide = tensor.scalar_type() == torch::kFloat64;
  return {name, wide ? TensorType::kFloat64 : TensorType::kFloat32,
          tensor.sizes().vec()};
}

checkpoint::FileEntry Write(checkpoint::Draft& draft, std::string_view file,
                            const NamedTensors& named) {
  std::vector<TensorInfo> infos;
  for (const auto& [name, tensor] : named) {
    infos.push_back(InfoOf(name, tensor));
  }
  checkpoint::TensorWriter writer = draft.NewFile(file, infos);
  for (const auto& [name, tensor] : named) {
    writer.Append(
        {static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes()});
  }
  return writer.Finish();
}

/// Gives each tensor of the file to `take`, beside the one of that name.
void Read(checkpoint::TensorReader reader, const std::string& where,
          const NamedTensors& wanted,
          const std::function<void(const TensorInfo&, const Tensor& value,
                                   const Tensor& target)>& take) {
  std::map<std::string_view, const Tensor*> missing;
  for (const auto& [name, tensor] : wanted) missing[name] = &tensor;
  for (const TensorInfo& info : reader.tensors()) {
    const auto found = missing.find(info.name);
    if (found == missing.end()) {
      throw BadCheckpoint(where + " holds a tensor " + info.name +
                          ", which this model does not have");
    }
    const Tensor value = torch::empty(info.shape, TorchType(info.type));
    reader.Read(static_cast<char*>(value.mutable_data_ptr()), info.bytes());
    take(info, value, *found->second);
    missing.erase(found);
  }
  if (!missing.empty()) {
    throw BadCheckpoint(where + " has no tensor " +
                        std::string(missing.begin()->first));
  }
  reader.Finish();
}

[[noreturn]] void RefuseShape(const std::string& where, const TensorInfo& info,
                              const Tensor& target) {
  throw BadCheckpoint(where + ": tensor " + info.name + " is " + ToText(info) +
                      ", this model needs " +
                      ToText(InfoOf(info.name, target)));
}

void ReadSame(checkpoint::TensorReader reader, const std::string& where,
              const NamedTensors& wanted) {
  Read(std::move(reader), where, wanted,
       [&](const TensorInfo& info, const Tensor& value, const Tensor& target) {
         if (InfoOf(info.name, target) != info) {
           RefuseShape(where, info, target);
         }
         target.copy_(value);
       });
}

/// Which replica of the checkpoint starts each seed, [R].
Tensor Sources_R(const checkpoint::Checkpoint& from,
                 const std::vector<int64_t>& seeds) {
  const std::vector<int64_t> there = from.manifest().Seeds();
  std::vector<int64_t> sources;
  for (const int64_t seed : seeds) {
    const auto found = std::ranges::find(there, seed);
    if (there.size() > 1 && found == there.end()) {
      throw BadCheckpoint(from.folder().string() + " has no replica of seed " +
                          std::to_string(seed));
    }
    sources.push_back(there.size() == 1 ? 0 : found - there.begin());
  }
  return torch::tensor(sources);
}

}  // namespace

Snapshot TakeSnapshot(const model::Decoder& decoder, const AdamW& optimizer) {
  const torch::NoGradGuard no_grad;
  return {Copied(Parameters(decoder)), Copied(Moments(optimizer))};
}

checkpoint::Draft::Done WriteSnapshot(const std::filesystem::path& folder,
                                      checkpoint::Manifest manifest,
                                      const Snapshot& snapshot) {
  checkpoint::Draft draft(folder);
  manifest.files = {
      Write(draft, checkpoint::kParametersFile, snapshot.parameters),
      Write(draft, checkpoint::kMomentsFile, snapshot.moments)};
  return draft.Commit(manifest);
}

void LoadState(const checkpoint::Checkpoint& from,
               const model::Decoder& decoder, const AdamW& optimizer) {
  const torch::NoGradGuard no_grad;
  if (!from.has_moments()) {
    throw BadCheckpoint(from.folder().string() +
                        " holds weights alone: training starts from it by "
                        "init_from, and cannot go on");
  }
  ReadSame(from.Parameters(),
           (from.folder() / checkpoint::kParametersFile).string(),
           Parameters(decoder));
  ReadSame(from.Moments(), (from.folder() / checkpoint::kMomentsFile).string(),
           Moments(optimizer));
}

void LoadWeights(const checkpoint::Checkpoint& from,
                 const std::vector<int64_t>& seeds,
                 const model::Decoder& decoder) {
  const torch::NoGradGuard no_grad;
  const Tensor sources_R = Sources_R(from, seeds);
  const std::string where =
      (from.folder() / checkpoint::kParametersFile).string();
  Read(from.Parameters(), where, Parameters(decoder),
       [&](const TensorInfo& info, const Tensor& value, const Tensor& target) {
         const Tensor chosen = value.index_select(0, sources_R);
         if (chosen.sizes() != target.sizes()) {
           RefuseShape(where, info, target);
         }
         target.copy_(chosen);
       });
}

}  // namespace leadline::trainer
