// Nodes to typed values: settings, methods, data sets, counts, texts.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coordinator/spec_reader/spec_reader.h"
#include "coordinator/spec_reader/yaml_tree.h"
#include "coordinator/sweep/sweep.h"
#include "model/spec/settings.h"

namespace leadline::spec_reader {

/// Reads values and gathers what is wrong with them. Where a value cannot be
/// read the problem is noted, and the answer is null or unreadable.
class ValueReader {
 public:
  ValueReader(std::string base_folder, const DataInspector& inspect,
              const CheckpointInspector& inspect_checkpoint)
      : base_folder_(std::move(base_folder)),
        inspect_(inspect),
        inspect_checkpoint_(inspect_checkpoint) {}

  /// Any value that a cell can have under that key, which IsKey allows.
  sweep::Choice ReadChoice(std::string_view key, const Node& node);

  std::optional<sweep::Option> ReadOption(const Entry& entry);
  std::optional<int64_t> ReadInteger(std::string_view what, const Node& node,
                                     int64_t least, int64_t most);
  std::optional<std::string> ReadText(std::string_view what, const Node& node);

  /// False, with a problem, unless the key is one of the settings table or
  /// "dataset".
  bool IsKey(const Entry& entry);

  /// False, with a problem, unless the node is of that kind.
  bool IsList(std::string_view what, const Node& node);
  bool IsMap(std::string_view what, const Node& node);

  void Add(sweep::Position at, std::string message);
  std::vector<sweep::Problem> TakeProblems() { return std::move(problems_); }
  /// Those that values named.
  sweep::Checkpoints TakeCheckpoints() { return std::move(checkpoints_); }

 private:
  std::optional<spec::Value> ReadSetting(const spec::SettingInfo& setting,
                                         const Node& node);
  std::optional<spec::Value> ReadCheckpoint(const spec::SettingInfo& setting,
                                            const Node& node);
  std::optional<std::string> ReadAbsolute(std::string_view what,
                                          const Node& node);
  std::optional<sweep::Method> ReadMethod(const Node& node);
  std::optional<std::string> ReadMethodName(const Node& node);
  std::optional<spec::Dataset> ReadDataset(const Node& node);
  std::optional<spec::Dataset> ReadRegistered(const Node& node);
  std::optional<spec::Dataset> ReadFile(const Node& node);
  bool ReadFileEntry(const Entry& entry, spec::Dataset& dataset);
  bool ReadPath(const Node& node, spec::Dataset& dataset);
  bool ReadSplit(const Node& node, spec::Dataset& dataset);
  bool Inspect(spec::Dataset& dataset, sweep::Position at);

  std::string base_folder_;
  const DataInspector& inspect_;
  const CheckpointInspector& inspect_checkpoint_;
  std::map<std::pair<std::string, std::string>, absl::StatusOr<DataFacts>>
      inspected_;  // by path and tokenizer
  std::map<std::string, std::optional<std::string>>
      opened_;  // hashes of checkpoints by path; null: the problem is noted
  sweep::Checkpoints checkpoints_;
  std::vector<sweep::Problem> problems_;
};

/// What a message shows of a node: "\"1e-4\"", "a list".
std::string Shown(const Node& node);

}  // namespace leadline::spec_reader
