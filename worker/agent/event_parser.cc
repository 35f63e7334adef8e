#include "worker/agent/event_parser.h"

#include <string>
#include <utility>
#include <vector>

#include <absl/status/statusor.h>

#include "common/name_spans.h"
#include "worker/agent/record_fields.h"
#include "worker/agent/strict_json.h"

namespace leadline::agent {
namespace {

using nlohmann::json;

template <typename Numbers, typename Field>
void Assign(const Numbers& numbers, Field* field) {
  field->Assign(numbers.begin(), numbers.end());
}

void ReadStart(RecordFields& event, v1::StartRecord& record) {
  // Kept as text: what they are is nobody's decision, only shown.
  record.set_libraries(event.Object("libraries").dump());
  record.set_version(event.Text("version"));
  record.set_commit(event.Text("commit"));
  record.set_settings_hash(event.Text("settings_hash"));
  record.set_data_hash(event.Text("data_hash"));
  Assign(event.Integers("seeds"), record.mutable_seeds());
  record.set_device(event.Text("device"));
  record.set_threads(event.Integer("threads"));
  record.set_numerics(event.Text("numerics"));
  record.set_parameters(event.Integer("parameters"));
  record.set_tokens_per_step(event.Integer("tokens_per_step"));
}

/// Reads the fields of a nested object with `read` and takes over its fault.
template <typename Read>
void ReadInside(RecordFields& event, std::string_view name, Read read) {
  RecordFields inner(event.Object(name));
  read(inner);
  if (!inner.fault().empty()) event.Fault(name, inner.fault());
}

void ReadStep(RecordFields& event, v1::StepRecord& record) {
  record.set_step(event.Integer("step"));
  record.set_tokens(event.Integer("tokens"));
  ReadInside(event, "values", [&](RecordFields& values) {
    Assign(values.Numbers("train_loss"), record.mutable_train_loss());
    Assign(values.Numbers("gradient_norm"), record.mutable_gradient_norm());
    Assign(values.Numbers("clip_factor"), record.mutable_clip_factor());
  });
  record.set_learning_rate(event.Number("learning_rate"));
  record.set_step_seconds(event.Number("step_seconds"));
  record.set_tokens_per_second(event.Number("tokens_per_second"));
}

void ReadEvaluation(RecordFields& event, const json& object,
                    v1::EvaluationRecord& record) {
  record.set_step(event.Integer("step"));
  record.set_split(event.Text("split"));
  record.set_kind(event.Text("kind"));
  ReadInside(event, "values", [&](RecordFields& values) {
    Assign(values.Numbers("loss"), record.mutable_loss());
  });
  const auto windows = object.find("windows");
  if (windows == object.end() || windows->is_null()) return;
  if (!windows->is_array()) return event.Fault("windows", "an array");
  for (const json& window : *windows) {
    const auto numbers = ReadNumbers(window);
    if (!numbers) return event.Fault("windows", "arrays of numbers");
    Assign(*numbers, record.add_windows()->mutable_values());
  }
}

/// The table of labels, and a list of spans of it for each of `rows` routers;
/// null, and a fault, if it is something else.
const json* ReadSources(RecordFields& event, const json& sources, size_t rows,
                        std::vector<std::string>& names) {
  const auto fault = [&](std::string_view what) -> const json* {
    event.Fault("route.sources", what);
    return nullptr;
  };
  if (!sources.is_object() || !sources.contains("names") ||
      !sources.contains("rows") || !sources["names"].is_array() ||
      !sources["rows"].is_array()) {
    return fault("names and rows");
  }
  for (const json& name : sources["names"]) {
    if (!name.is_string()) return fault("names");
    names.push_back(name.get<std::string>());
  }
  if (sources["rows"].size() != rows) {
    return fault("a row for each of route.map");
  }
  return &sources["rows"];
}

/// False if it is no list of spans that gives a name to each weight.
bool ReadSpans(const json& spans, const std::vector<std::string>& names,
               v1::RouterRow& row) {
  if (!spans.is_array()) return false;
  std::vector<int64_t> places;
  for (const json& place : spans) {
    if (!place.is_number_integer()) return false;
    places.push_back(place.get<int64_t>());
  }
  const auto sources =
      FromSpans(names, places, static_cast<size_t>(row.weights_size()));
  if (!sources) return false;
  Assign(*sources, row.mutable_sources());
  return true;
}

void ReadMap(RecordFields& event, const json& rows, const json& sources,
             v1::RoutingRecord& record) {
  if (!rows.is_array()) return event.Fault("route.map", "an array of rows");
  std::vector<std::string> names;
  const json* spans = ReadSources(event, sources, rows.size(), names);
  if (spans == nullptr) return;
  for (size_t q = 0; q < rows.size(); ++q) {
    const auto weights = ReadNumbers(rows[q]);
    if (!weights) return event.Fault("route.map", "rows of numbers");
    v1::RouterRow& row = *record.add_map();
    row.set_router(static_cast<int64_t>(q));
    Assign(*weights, row.mutable_weights());
    if (!ReadSpans((*spans)[q], names, row)) {
      return event.Fault("route.sources", "a name for each weight");
    }
  }
}

void ReadRouting(RecordFields& event, v1::RoutingRecord& record) {
  record.set_step(event.Integer("step"));
  record.set_replica(event.Integer("replica"));
  const json& values = event.Object("values");
  for (const auto& [name, value] : values.items()) {
    if (name == "route.sources" || value.is_null()) continue;
    if (name == "route.map") {
      ReadMap(event, value, values.value("route.sources", json()), record);
      continue;
    }
    const auto numbers = ReadNumbers(value);
    if (!numbers) return event.Fault(name, "an array of numbers");
    v1::NamedVector& statistic = *record.add_statistics();
    statistic.set_name(name);
    Assign(*numbers, statistic.mutable_values());
  }
}

void ReadCheckpoint(RecordFields& event, v1::CheckpointRecord& record) {
  record.set_step(event.Integer("step"));
  record.set_folder(event.Text("folder"));
  record.set_bytes(event.Integer("bytes"));
  record.set_seconds(event.Number("seconds"));
}

void ReadReplicaEnd(RecordFields& event, v1::ReplicaEndRecord& record) {
  record.set_replica(event.Integer("replica"));
  record.set_seed(event.Integer("seed"));
  record.set_state(event.Text("state"));
  record.set_step(event.Integer("step"));
  record.set_reason(event.TextIfThere("reason"));
}

void ReadResult(RecordFields& event, v1::ResultRecord& record) {
  record.set_replica(event.Integer("replica"));
  record.set_seed(event.Integer("seed"));
  v1::TrialResult& result = *record.mutable_result();
  result.set_validation_loss(event.Number("validation_loss"));
  if (const auto value = event.NumberIfThere("test_loss")) {
    result.set_test_loss(*value);
  }
  if (const auto value = event.NumberIfThere("best_validation_loss")) {
    result.set_best_validation_loss(*value);
  }
  if (const auto value = event.IntegerIfThere("best_step")) {
    result.set_best_step(*value);
  }
  result.set_unit(event.Text("unit"));
  result.set_steps(event.Integer("steps"));
  result.set_tokens(event.Integer("tokens"));
  result.set_seconds(event.Number("seconds"));
  result.set_peak_bytes(event.Integer("peak_bytes"));
  result.set_parameters(event.Integer("parameters"));
  result.set_determinism(event.TextIfThere("determinism"));
}

void ReadEnd(RecordFields& event, v1::EndRecord& record) {
  record.set_outcome(event.Text("outcome"));
  record.set_kind(event.TextIfThere("kind"));
  record.set_message(event.TextIfThere("message"));
}

void ReadEvent(RecordFields& event, const json& object,
               v1::TrainerRecord& record) {
  record.set_time_s(event.Number("time_s"));
  const std::string name = event.Text("event");
  if (name == "start") return ReadStart(event, *record.mutable_start());
  if (name == "step") return ReadStep(event, *record.mutable_step());
  if (name == "evaluation") {
    return ReadEvaluation(event, object, *record.mutable_evaluation());
  }
  if (name == "routing") {
    return ReadRouting(event, *record.mutable_routing());
  }
  if (name == "checkpoint") {
    return ReadCheckpoint(event, *record.mutable_checkpoint());
  }
  if (name == "replica_end") {
    return ReadReplicaEnd(event, *record.mutable_replica_end());
  }
  if (name == "result") return ReadResult(event, *record.mutable_result());
  if (name == "end") return ReadEnd(event, *record.mutable_end());
  event.Fault("event", "one of the events of this version");
}

v1::TrainerRecord Unreadable(int64_t sequence, std::string reason) {
  v1::TrainerRecord record;
  record.set_sequence(sequence);
  record.mutable_unreadable()->set_message(std::move(reason));
  return record;
}

}  // namespace

v1::TrainerRecord ParseEvent(const EventLine& line) {
  if (line.too_long) {
    return Unreadable(line.sequence, "a line longer than a mebibyte");
  }
  absl::StatusOr<json> object = ParseStrictJson(line.text);
  if (!object.ok()) {
    return Unreadable(line.sequence, std::string(object.status().message()));
  }
  if (!object->is_object()) {
    return Unreadable(line.sequence, "not a JSON object");
  }
  v1::TrainerRecord record;
  record.set_sequence(line.sequence);
  RecordFields event(*object);
  ReadEvent(event, *object, record);
  if (!event.fault().empty()) return Unreadable(line.sequence, event.fault());
  // A text of few bytes a number grows to eight bytes each. The figures of a
  // very deep model are worth having without its map.
  if (record.has_routing() && record.ByteSizeLong() > kLargestRecordBytes) {
    record.mutable_routing()->clear_map();
  }
  if (record.ByteSizeLong() > kLargestRecordBytes) {
    return Unreadable(line.sequence, "a record too large to send");
  }
  return record;
}

}  // namespace leadline::agent
