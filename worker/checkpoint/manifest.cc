#include "worker/checkpoint/manifest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "common/sha256.h"
#include "model/spec/identity.h"
#include "model/spec/json_text.h"
#include "worker/checkpoint/json_reader.h"

namespace leadline::checkpoint {
namespace {

using spec::JsonText;

constexpr int64_t kFormat = 1;
constexpr std::string_view kStreams = "philox4x32-10 fnv1a-64";
constexpr size_t kMostReplicas = 64;
constexpr int64_t kMostSteps = int64_t{1} << 40U;

// ---- writing

std::string Number(double value) {
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
  return spec::ToText(value);
}

template <typename Items, typename Write>
std::string Array(const Items& items, Write write) {
  std::string json = "[";
  for (const auto& item : items) {
    if (json.size() > 1) json += ',';
    json += write(item);
  }
  return json + ']';
}

std::string DatasetJson(const Manifest& manifest) {
  const spec::Dataset& dataset = manifest.dataset;
  return "{\"name\":" + JsonText(dataset.name) +
         ",\"content_hash\":" + JsonText(dataset.content_hash) +
         ",\"tokenizer\":" + JsonText(dataset.tokenizer) + ",\"split\":" +
         Array(dataset.split, [](double part) { return Number(part); }) +
         ",\"vocabulary\":" + std::to_string(manifest.vocabulary) +
         ",\"alphabet\":" +
         Array(manifest.alphabet,
               [](char32_t symbol) {
                 return std::to_string(static_cast<uint32_t>(symbol));
               }) +
         "}";
}

std::string ReplicaJson(const ReplicaProgress& replica) {
  std::string json = "{\"seed\":" + std::to_string(replica.seed);
  json += ",\"ended\":" +
          (replica.ended.empty() ? "null" : JsonText(replica.ended));
  json += ",\"end_step\":" + std::to_string(replica.end_step);
  json += ",\"best_loss\":" + Number(replica.best_loss);
  json += ",\"best_step\":" + std::to_string(replica.best_step);
  json += ",\"sums\":" +
          Array(replica.sums, [](double sum) { return Number(sum); });
  return json + "}";
}

std::string OriginJson(const std::optional<Origin>& origin) {
  if (!origin) return "null";
  return "{\"how\":" + JsonText(origin->how) +
         ",\"hash\":" + JsonText(origin->hash) +
         ",\"method\":" + JsonText(origin->method) +
         ",\"step\":" + std::to_string(origin->step) + "}";
}

std::string FileJson(const FileEntry& file) {
  return "{\"name\":" + JsonText(file.name) +
         ",\"bytes\":" + std::to_string(file.bytes) +
         ",\"sha256\":" + JsonText(file.sha256) + "}";
}

// ---- reading

const std::string& Hash(const JsonReader& reader, std::string_view key) {
  const std::string& text = reader.Text(key);
  if (!IsSha256(text)) {
    reader.Refuse(std::string(key) + " is no SHA-256 in hexadecimal");
  }
  return text;
}

double Double(const JsonReader& reader, std::string_view key,
              const Json& json) {
  using Limits = std::numeric_limits<double>;
  if (json.kind == Json::Kind::kText) {
    if (json.text == "nan") return Limits::quiet_NaN();
    if (json.text == "inf") return Limits::infinity();
    if (json.text == "-inf") return -Limits::infinity();
  }
  if (json.kind != Json::Kind::kNumber) {
    reader.Refuse(std::string(key) + " holds no number");
  }
  return reader.Number<double>(key, json.text, Limits::lowest(), Limits::max());
}

void ReadFormat(const JsonReader& root) {
  const int64_t format = root.Integer("format", 1, 1'000'000);
  const int64_t version = root.Integer("settings_version", 1, 1'000'000);
  if (format > kFormat || version > spec::SettingsVersion()) {
    root.Refuse("was written by a newer version of leadline");
  }
  if (root.Text("streams") != kStreams) {
    root.Refuse("names random streams that this version does not have");
  }
}

spec::Value SettingValue(const JsonReader& reader,
                         const spec::SettingInfo& setting, const Json& json) {
  const bool number = json.kind == Json::Kind::kNumber;
  if (number || json.kind == Json::Kind::kText) {
    auto parsed = spec::ParseValue(setting, json.text);
    auto* value = std::get_if<spec::Value>(&parsed);
    if (value != nullptr &&
        number != std::holds_alternative<std::string>(*value)) {
      return std::move(*value);
    }
  }
  reader.Refuse(std::string(setting.key) + ": expected " +
                spec::ExpectedText(setting));
}

spec::Settings ReadSettings(const Json& json) {
  const JsonReader reader(json, "settings");
  spec::GivenSettings given;
  for (const auto& [key, value] : json.members) {
    const spec::SettingInfo* setting = spec::FindSetting(key);
    if (setting == nullptr) {
      reader.Refuse("there is no setting " + JsonText(key.substr(0, 60)));
    }
    given[key] = SettingValue(reader, *setting, value);
  }
  spec::Resolution resolution = spec::Resolve(given);
  if (!resolution.errors.empty()) {
    reader.Refuse(resolution.errors.front().key + ": " +
                  resolution.errors.front().message);
  }
  return std::move(resolution.settings);
}

void ReadDataset(const Json& json, Manifest& manifest) {
  const JsonReader reader(json, "dataset");
  spec::Dataset& dataset = manifest.dataset;
  dataset.name = reader.Text("name");
  dataset.content_hash = reader.Text("content_hash");
  dataset.tokenizer = reader.Text("tokenizer");
  if (dataset.tokenizer != "char" && dataset.tokenizer != "byte") {
    reader.Refuse("tokenizer is neither char nor byte");
  }
  const Json& split = reader.Member("split", Json::Kind::kArray);
  if (split.items.size() != dataset.split.size()) {
    reader.Refuse("split has not three parts");
  }
  for (size_t i = 0; i < dataset.split.size(); ++i) {
    dataset.split[i] = Double(reader, "split", split.items[i]);
  }
  manifest.vocabulary = reader.Integer("vocabulary", 1, 65'536);
  for (const Json& symbol :
       reader.Member("alphabet", Json::Kind::kArray).items) {
    manifest.alphabet.push_back(
        reader.Number<uint32_t>("alphabet", symbol.text, 0, 0x10ffff));
  }
  const auto known = static_cast<int64_t>(manifest.alphabet.size());
  if (known != manifest.vocabulary && known + 1 != manifest.vocabulary) {
    reader.Refuse("vocabulary and alphabet do not agree");
  }
}

ReplicaProgress ReadReplica(const Json& json) {
  const JsonReader reader(json, "replicas");
  ReplicaProgress replica;
  replica.seed = reader.Integer("seed", 0, INT64_MAX);
  if (const Json* ended = reader.MemberOrNull("ended", Json::Kind::kText)) {
    constexpr std::string_view kCauses[] = {"loss", "norm", "limit", "dropped"};
    if (std::ranges::find(kCauses, ended->text) == std::end(kCauses)) {
      reader.Refuse("ended names no known cause");
    }
    replica.ended = ended->text;
  }
  replica.end_step = reader.Integer("end_step", 0, kMostSteps);
  const Json* best = FindMember(json, "best_loss");
  if (best == nullptr) reader.Refuse("lacks best_loss");
  replica.best_loss = Double(reader, "best_loss", *best);
  replica.best_step = reader.Integer("best_step", 0, kMostSteps);
  const Json& sums = reader.Member("sums", Json::Kind::kArray);
  if (sums.items.size() != replica.sums.size()) {
    reader.Refuse("sums are not three");
  }
  for (size_t i = 0; i < replica.sums.size(); ++i) {
    replica.sums[i] = Double(reader, "sums", sums.items[i]);
  }
  return replica;
}

void ReadReplicas(const Json& json, Manifest& manifest) {
  if (json.items.empty() || json.items.size() > kMostReplicas) {
    throw BadCheckpoint("replicas: expected 1 to 64");
  }
  std::set<int64_t> seeds;
  for (const Json& item : json.items) {
    manifest.replicas.push_back(ReadReplica(item));
    if (!seeds.insert(manifest.replicas.back().seed).second) {
      throw BadCheckpoint("replicas: the seed " +
                          std::to_string(manifest.replicas.back().seed) +
                          " stands there twice");
    }
  }
}

Origin ReadOrigin(const Json& json) {
  const JsonReader reader(json, "origin");
  return {reader.Text("how"), Hash(reader, "hash"), reader.Text("method"),
          reader.Integer("step", 0, kMostSteps)};
}

// Files of any other name are none of ours: no path is ever made of them.
void ReadFiles(const Json& json, Manifest& manifest) {
  for (const Json& item : json.items) {
    const JsonReader reader(item, "files");
    FileEntry file{reader.Text("name"), reader.Integer("bytes", 0, INT64_MAX),
                   Hash(reader, "sha256")};
    if (file.name != kParametersFile && file.name != kMomentsFile) {
      reader.Refuse("names a file " + JsonText(file.name.substr(0, 60)) +
                    ", which is none of a checkpoint");
    }
    if (manifest.Find(file.name) != nullptr) {
      reader.Refuse("names " + file.name + " twice");
    }
    manifest.files.push_back(std::move(file));
  }
  if (manifest.Find(kParametersFile) == nullptr) {
    throw BadCheckpoint("files: no " + std::string(kParametersFile));
  }
}

}  // namespace

std::vector<int64_t> Manifest::Seeds() const {
  std::vector<int64_t> seeds;
  for (const ReplicaProgress& replica : replicas) seeds.push_back(replica.seed);
  return seeds;
}

const FileEntry* Manifest::Find(std::string_view file) const {
  const auto found = std::ranges::find(files, file, &FileEntry::name);
  return found == files.end() ? nullptr : &*found;
}

std::string ManifestJson(const Manifest& manifest) {
  std::string json = "{\"format\":" + std::to_string(kFormat);
  json += ",\"settings_version\":" + std::to_string(spec::SettingsVersion());
  json += ",\n\"settings\":" + spec::SettingsJson(manifest.settings);
  json += ",\n\"cell_hash\":" + JsonText(manifest.cell_hash);
  json += ",\n\"dataset\":" + DatasetJson(manifest);
  json += ",\n\"streams\":" + JsonText(kStreams);
  json += ",\n\"step\":" + std::to_string(manifest.step);
  json += ",\"interval_steps\":" + std::to_string(manifest.interval_steps);
  // Only where it is so, which is seldom: most manifests stay what they were.
  if (manifest.evaluation_due) json += ",\"evaluation_due\":true";
  json += ",\n\"replicas\":" + Array(manifest.replicas, ReplicaJson);
  json += ",\n\"origin\":" + OriginJson(manifest.origin);
  json += ",\n\"files\":" + Array(manifest.files, FileJson);
  return json + "}\n";
}

Manifest ParseManifest(std::string_view text) {
  Json json;
  try {
    json =
        ParseStrictJson(text, {.what = "the manifest",
                               .bytes = static_cast<size_t>(kMostManifestBytes),
                               .levels = 6});
  } catch (const JsonError& error) {
    throw BadCheckpoint(error.what());
  }
  const JsonReader root(json, "the manifest");
  ReadFormat(root);
  Manifest manifest;
  manifest.settings =
      ReadSettings(root.Member("settings", Json::Kind::kObject));
  manifest.cell_hash = Hash(root, "cell_hash");
  ReadDataset(root.Member("dataset", Json::Kind::kObject), manifest);
  manifest.step = root.Integer("step", 0, kMostSteps);
  manifest.interval_steps = root.Integer("interval_steps", 0, kMostSteps);
  // It is there only where it is true.
  if (FindMember(json, "evaluation_due") != nullptr) {
    manifest.evaluation_due =
        root.Member("evaluation_due", Json::Kind::kBool).boolean;
  }
  ReadReplicas(root.Member("replicas", Json::Kind::kArray), manifest);
  if (const Json* origin = root.MemberOrNull("origin", Json::Kind::kObject)) {
    manifest.origin = ReadOrigin(*origin);
  }
  ReadFiles(root.Member("files", Json::Kind::kArray), manifest);
  return manifest;
}

}  // namespace leadline::checkpoint
