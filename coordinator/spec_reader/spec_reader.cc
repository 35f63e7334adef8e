#include "coordinator/spec_reader/spec_reader.h"

#include <algorithm>
#include <functional>
#include <set>

#include "common/nearest_name.h"
#include "coordinator/spec_reader/limits_reader.h"
#include "coordinator/spec_reader/rule_reader.h"
#include "coordinator/spec_reader/text_check.h"
#include "coordinator/spec_reader/value_reader.h"
#include "coordinator/spec_reader/yaml_tree.h"
#include "coordinator/sweep/check_sweep.h"

namespace leadline::spec_reader {
namespace {

constexpr size_t kMostProblems = 100;
constexpr int64_t kMostSeeds = 1'000'000;

/// Reads the parts of a sweep file, each under its key.
class SweepReader {
 public:
  SweepReader(const std::string& base_folder, const DataInspector& inspect,
              const CheckpointInspector& inspect_checkpoint)
      : values_(base_folder, inspect, inspect_checkpoint) {}

  Reading Run(const Node& root) {
    if (values_.IsMap("sweep file", root)) ReadRoot(root);
    sweep_.checkpoints = values_.TakeCheckpoints();
    return {std::move(sweep_), values_.TakeProblems()};
  }

 private:
  using Part = void (SweepReader::*)(const Node&);

  static const std::vector<std::pair<std::string_view, Part>>& Parts() {
    static const std::vector<std::pair<std::string_view, Part>> parts = {
        {"leadline", &SweepReader::ReadVersion},
        {"name", &SweepReader::ReadName},
        {"description", &SweepReader::ReadDescription},
        {"seeds", &SweepReader::ReadSeeds},
        {"settings", &SweepReader::ReadSettings},
        {"axes", &SweepReader::ReadAxes},
        {"zip", &SweepReader::ReadZips},
        {"exclude", &SweepReader::ReadExclude},
        {"when", &SweepReader::ReadWhens},
        {"limits", &SweepReader::ReadLimits},
        {"priority", &SweepReader::ReadPriority},
        {"contrasts", &SweepReader::ReadContrasts},
    };
    return parts;
  }

  static std::vector<std::string_view> PartNames() {
    std::vector<std::string_view> names;
    for (const auto& [name, part] : Parts()) names.push_back(name);
    return names;
  }

  void ReadRoot(const Node& root) {
    std::set<std::string_view> seen;
    for (const Entry& entry : root.entries) {
      const auto part = std::ranges::find(
          Parts(), entry.key,
          [](const auto& known) { return std::string(known.first); });
      if (part == Parts().end()) {
        values_.Add(entry.at, UnknownPart(entry));
        continue;
      }
      seen.insert(entry.key);
      (this->*part->second)(entry.value);
    }
    if (!seen.contains("leadline")) {
      values_.Add({1, 1},
                  "no leadline: expected leadline: 1, the version of "
                  "the format");
    }
    if (!seen.contains("seeds")) {
      sweep_.seeds.count = 1;
      values_.Add({1, 1}, "no seeds: expected a number of seeds or a list");
    }
  }

  static std::string UnknownPart(const Entry& entry) {
    Node key;
    key.text = entry.key;
    std::string message = "there is no " + Shown(key) + " in a sweep file";
    if (entry.key == "dataset" || spec::FindSetting(entry.key)) {
      return message + ", " + entry.key + " goes under settings or axes";
    }
    return message + DidYouMean(entry.key, PartNames());
  }

  void ReadVersion(const Node& node) {
    values_.ReadInteger("leadline", node, 1, 1);
  }

  void ReadName(const Node& node) {
    sweep_.name = values_.ReadText("name", node).value_or("");
  }

  void ReadDescription(const Node& node) {
    sweep_.description = values_.ReadText("description", node).value_or("");
  }

  void ReadSeeds(const Node& node) {
    sweep_.seeds.at = node.at;
    if (!node.IsList()) {
      // Unread seeds count as one: the problem is noted already.
      sweep_.seeds.count =
          values_.ReadInteger("seeds", node, 1, kMostSeeds).value_or(1);
      return;
    }
    if (node.items.empty()) return;  // CheckSweep says so
    std::set<int64_t> seen;
    for (const Node& item : node.items) {
      const auto seed = values_.ReadInteger("seeds", item, 0, INT64_MAX);
      if (seed && !seen.insert(*seed).second) {
        values_.Add(item.at,
                    "seeds: " + item.text + " stands in the list twice");
      }
      sweep_.seeds.listed.push_back(seed.value_or(0));
    }
    sweep_.seeds.count = static_cast<int64_t>(sweep_.seeds.listed.size());
  }

  void ReadSettings(const Node& node) {
    if (!values_.IsMap("settings", node)) return;
    for (const Entry& entry : node.entries) {
      if (!values_.IsKey(entry)) continue;
      sweep_.fixed.push_back(
          {entry.key, {values_.ReadChoice(entry.key, entry.value)}, entry.at});
    }
  }

  void ReadAxes(const Node& node) {
    if (!values_.IsMap("axes", node)) return;
    for (const Entry& entry : node.entries) {
      if (!values_.IsKey(entry)) continue;
      sweep::Axis axis{entry.key, {}, entry.at};
      if (values_.IsList(entry.key, entry.value)) {
        for (const Node& item : entry.value.items) {
          axis.values.push_back(values_.ReadChoice(entry.key, item));
        }
      } else {
        axis.values.push_back({.value = {}, .at = entry.value.at});
      }
      sweep_.axes.push_back(std::move(axis));
    }
  }

  void ReadZips(const Node& node) {
    if (!values_.IsList("zip", node)) return;
    for (const Node& group : node.items) {
      if (!values_.IsList("zip group", group)) return;
      sweep::Zip zip{{}, group.at};
      bool is_whole = true;
      for (const Node& key : group.items) {
        const auto text = values_.ReadText("zip", key);
        is_whole = is_whole && text.has_value();
        zip.keys.push_back(text.value_or(""));
      }
      if (is_whole) sweep_.zips.push_back(std::move(zip));
    }
  }

  void ReadExclude(const Node& node) {
    if (!values_.IsList("exclude", node)) return;
    for (const Node& item : node.items) {
      if (values_.IsMap("exclude", item)) {
        sweep_.exclude.push_back(ReadRule(item, values_));
      }
    }
  }

  void ReadWhens(const Node& node) {
    if (!values_.IsList("when", node)) return;
    for (const Node& item : node.items) {
      if (!values_.IsMap("when", item)) continue;
      auto when = ReadWhen(item, values_);
      if (when) sweep_.when.push_back(*std::move(when));
    }
  }

  void ReadLimits(const Node& node) {
    sweep_.limits = spec_reader::ReadLimits(node, values_);
  }

  void ReadPriority(const Node& node) {
    sweep_.priority =
        values_.ReadInteger("priority", node, -100, 100).value_or(0);
  }

  void ReadContrasts(const Node& node) {
    if (values_.IsList("contrasts", node) && !node.items.empty()) {
      values_.Add(node.at, "contrasts are not supported yet");
    }
  }

  ValueReader values_;
  sweep::Sweep sweep_;
};

/// What the tree said of a place stands; what followed from it is left out.
void AddTreeProblems(const std::vector<sweep::Problem>& tree,
                     std::vector<sweep::Problem>& problems) {
  std::set<sweep::Position> places;
  for (const sweep::Problem& problem : tree) places.insert(problem.at);
  std::erase_if(problems, [&](const sweep::Problem& problem) {
    return places.contains(problem.at);
  });
  problems.insert(problems.end(), tree.begin(), tree.end());
}

/// In order, once each, and not more than someone reads.
void Tidy(std::vector<sweep::Problem>& problems) {
  std::ranges::sort(problems);
  problems.erase(std::unique(problems.begin(), problems.end()), problems.end());
  if (problems.size() <= kMostProblems) return;
  const size_t more = problems.size() - kMostProblems;
  problems.resize(kMostProblems);
  problems.push_back(
      {problems.back().at, "and " + std::to_string(more) + " more problems"});
}

}  // namespace

Reading ReadSweep(std::string_view text, const std::string& base_folder,
                  const DataInspector& inspect,
                  const CheckpointInspector& inspect_checkpoint) {
  if (auto problem = CheckText(text)) return {{}, {*std::move(problem)}};
  Tree tree = ReadYaml(text);
  if (!tree.is_readable) return {{}, std::move(tree.problems)};
  Reading reading =
      SweepReader(base_folder, inspect, inspect_checkpoint).Run(tree.root);
  if (tree.root.IsMap()) {
    for (sweep::Problem& problem : sweep::CheckSweep(reading.sweep)) {
      reading.problems.push_back(std::move(problem));
    }
  }
  AddTreeProblems(tree.problems, reading.problems);
  Tidy(reading.problems);
  return reading;
}

std::string ToText(const sweep::Problem& problem, std::string_view file) {
  std::string text(file);
  if (problem.at.line > 0) {
    text += ":" + std::to_string(problem.at.line) + ":" +
            std::to_string(problem.at.column);
  }
  return text + ": " + problem.message;
}

}  // namespace leadline::spec_reader
