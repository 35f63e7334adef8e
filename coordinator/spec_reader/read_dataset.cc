// The data sets of a sweep file: registered names, and files by their content.

#include <cmath>
#include <filesystem>

#include "common/nearest_name.h"
#include "coordinator/spec_reader/value_reader.h"
#include "model/spec/dataset_table.h"

namespace leadline::spec_reader {
namespace {

std::vector<std::string_view> DatasetNames() {
  std::vector<std::string_view> names;
  for (const spec::DatasetInfo& dataset : spec::DatasetTable()) {
    names.push_back(dataset.name);
  }
  return names;
}

}  // namespace

std::optional<spec::Dataset> ValueReader::ReadDataset(const Node& node) {
  return node.IsMap() ? ReadFile(node) : ReadRegistered(node);
}

std::optional<spec::Dataset> ValueReader::ReadRegistered(const Node& node) {
  const spec::DatasetInfo* info =
      node.IsScalar() ? spec::FindDataset(node.text) : nullptr;
  if (!info) {
    Add(node.at, "dataset: found " + Shown(node) +
                     ", expected a registered name or a map with path" +
                     (node.IsScalar() ? DidYouMean(node.text, DatasetNames())
                                      : std::string()));
    return {};
  }
  return spec::Dataset{.name = std::string(info->name),
                       .path = "",
                       .content_hash = std::string(info->content_hash),
                       .tokenizer = std::string(info->tokenizer),
                       .split = info->split,
                       .vocabulary = info->vocabulary};
}

std::optional<spec::Dataset> ValueReader::ReadFile(const Node& node) {
  spec::Dataset dataset;
  bool is_whole = true;
  sweep::Position path_at = node.at;
  for (const Entry& entry : node.entries) {
    if (entry.key == "path") path_at = entry.value.at;
    if (!ReadFileEntry(entry, dataset)) is_whole = false;
  }
  if (is_whole && dataset.path.empty()) {
    Add(node.at, "dataset: found a map without path");
    return {};
  }
  if (!is_whole || !Inspect(dataset, path_at)) return {};
  return dataset;
}

bool ValueReader::ReadFileEntry(const Entry& entry, spec::Dataset& dataset) {
  if (entry.key == "path") return ReadPath(entry.value, dataset);
  if (entry.key == "split") return ReadSplit(entry.value, dataset);
  if (entry.key == "tokenizer") {
    const bool is_known =
        entry.value.IsScalar() &&
        (entry.value.text == "char" || entry.value.text == "byte");
    if (!is_known) {
      Add(entry.value.at,
          "tokenizer: found " + Shown(entry.value) + ", expected char or byte");
    }
    dataset.tokenizer = entry.value.text;
    return is_known;
  }
  Add(entry.at, "dataset: there is no " + entry.key +
                    ", expected path, tokenizer or split" +
                    DidYouMean(entry.key, {"path", "tokenizer", "split"}));
  return false;
}

bool ValueReader::ReadPath(const Node& node, spec::Dataset& dataset) {
  const auto text = ReadAbsolute("path", node);
  if (!text) return false;
  const std::filesystem::path path = *text;
  if (!path.is_absolute() || !path.has_filename()) {
    Add(node.at, "path: found " + Shown(node) + ", expected a file");
    return false;
  }
  dataset.path = path.string();
  dataset.name = path.stem().string();
  return true;
}

bool ValueReader::ReadSplit(const Node& node, spec::Dataset& dataset) {
  const std::string wanted =
      "split: expected three parts, of training, validation and test, that "
      "add up to 1, the first two above 0";
  if (!node.IsList() || node.items.size() != 3) {
    Add(node.at, wanted);
    return false;
  }
  const spec::SettingInfo range{
      .key = "split", .kind = spec::ValueKind::kNumber, .least = 0, .most = 1};
  bool is_whole = true;
  for (size_t i = 0; i < 3; ++i) {
    const auto part = ReadSetting(range, node.items[i]);
    if (part) dataset.split[i] = std::get<double>(*part);
    is_whole = is_whole && part.has_value();
  }
  if (!is_whole) return false;
  const auto& [training, validation, test] = dataset.split;
  if (training > 0 && validation > 0 &&
      std::abs(training + validation + test - 1) < 1e-9) {
    return true;
  }
  Add(node.at, wanted);
  return false;
}

bool ValueReader::Inspect(spec::Dataset& dataset, sweep::Position at) {
  const auto key = std::pair(dataset.path, dataset.tokenizer);
  auto found = inspected_.find(key);
  if (found == inspected_.end()) {
    found = inspected_.emplace(key, inspect_(dataset.path, dataset.tokenizer))
                .first;
  }
  if (!found->second.ok()) {
    Add(at, "path: " + std::string(found->second.status().message()));
    return false;
  }
  dataset.content_hash = found->second->content_hash;
  dataset.vocabulary = found->second->vocabulary;
  return true;
}

}  // namespace leadline::spec_reader
