// Canonical text and hash of a cell, and the trainer's configuration file.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/spec/dataset_table.h"
#include "model/spec/settings.h"

namespace leadline::spec {

/// True if the value counts in a cell's hash: the key is part of the identity,
/// and is no later one at its neutral value.
bool IsInIdentity(const SettingInfo& setting, const Value& value);

/// The settings as one JSON object, keys sorted, no blanks, numbers with their
/// type; all of them, whether part of the identity or not.
std::string SettingsJson(const Settings& settings);

/// Reads what SettingsJson wrote, types included. The second form of the result
/// says what is wrong with the text.
std::variant<Settings, std::string> ReadSettingsJson(std::string_view json);

/// The canonical form that is hashed: identity settings (those at a later
/// version's neutral value left out), content hash, tokenizer and split.
std::string CanonicalCell(const Settings& settings, const Dataset& dataset);

/// SHA-256 of CanonicalCell, hexadecimal.
std::string CellHash(const Settings& settings, const Dataset& dataset);

/// What a trainer needs to know and nothing to look up.
struct TrainerConfig {
  Settings settings;
  std::vector<int64_t> seeds;  // one a replica
  Dataset dataset;             // with the path the trainer opens
  std::string device = "cpu";  // or "cuda:0"
  int64_t world_size = 1;
  int64_t rank = 0;
  /// Of several ranks: HOST:PORT of each, in their order; empty: an order will
  /// name them.
  std::vector<std::string> peers;
  /// Of several ranks, written for them alone.
  std::string listen;  // the host whose address a rank binds without peers
  std::string secret;  // hexadecimal, the same for all ranks of an attempt
  std::optional<int64_t> setup_timeout_s;  // to find each other
  std::optional<int64_t> timeout_s;        // of one collective operation
  bool overlap = true;  // gradients travel while others are computed
  std::optional<std::string> folder;  // null: events go to standard output
  std::optional<std::string> resume;
};

/// The configuration file of docs/trainer: {"version": 1, "settings": ...}.
std::string TrainerConfigJson(const TrainerConfig& config);

}  // namespace leadline::spec
