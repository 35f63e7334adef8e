#include "coordinator/rpc/trial_details.h"

#include <utility>
#include <variant>
#include <vector>

#include <absl/status/status.h>

#include "common/utf8_prefix.h"
#include "coordinator/rpc/convert.h"
#include "coordinator/rpc/results_convert.h"
#include "model/spec/identity.h"

namespace leadline::rpc {
namespace {

absl::StatusOr<spec::Settings> SettingsOf(const storage::CellRecord& cell) {
  auto read = spec::ReadSettingsJson(cell.settings_json);
  if (auto* settings = std::get_if<spec::Settings>(&read)) {
    return std::move(*settings);
  }
  return absl::DataLossError("stored settings of cell " + ToText(cell.id) +
                             ": " + std::get<std::string>(read));
}

spec::Dataset DatasetOf(const storage::DatasetRecord& record) {
  return {record.name,      record.path,  record.content_hash,
          record.tokenizer, record.split, record.vocabulary};
}

// The attempt that shows how the cohort ran; null if none has started.
const storage::AttemptRecord* AttemptThatRan(
    const std::vector<storage::AttemptRecord>& attempts,
    const std::optional<storage::ResultRecord>& result) {
  const storage::AttemptRecord* found = nullptr;
  for (const storage::AttemptRecord& attempt : attempts) {
    if (result && attempt.key == result->attempt) return &attempt;
    if (!attempt.device.empty()) found = &attempt;
  }
  return found;
}

void RunAs(const storage::AttemptRecord& attempt, spec::TrainerConfig& config) {
  if (!attempt.device.empty()) config.device = attempt.device;
  if (!attempt.dataset_path.empty()) {
    config.dataset.path = attempt.dataset_path;
  }
  if (attempt.threads > 0) {
    spec::GivenSettings values = config.settings.values();
    values["threads"] = attempt.threads;
    config.settings = spec::Settings(std::move(values));
  }
}

}  // namespace

absl::StatusOr<TrialId> ReadTrialId(const std::string& text) {
  if (const auto trial = ParseTrialId(text)) return *trial;
  return absl::InvalidArgumentError("\"" + std::string(Utf8Prefix(text, 100)) +
                                    "\" is no trial; one is written s12.3.0");
}

absl::StatusOr<v1::ShowTrialReply> ShowTrial(const storage::StoreReader& reader,
                                             const TrialId& trial) {
  const auto row = reader.GetTrial(trial);
  if (!row.ok()) return row.status();
  const auto settings = SettingsOf(row->cell);
  if (!settings.ok()) return settings.status();
  const auto cohort = reader.CohortTrials(row->trial.cohort);
  if (!cohort.ok()) return cohort.status();
  const auto attempts = reader.ListAttempts(row->trial.cohort);
  if (!attempts.ok()) return attempts.status();
  const auto result = reader.FindResult(trial);
  if (!result.ok()) return result.status();
  const auto orphans = reader.CohortOrphans(row->trial.cohort);
  if (!orphans.ok()) return orphans.status();

  v1::ShowTrialReply reply;
  *reply.mutable_trial() = SummaryOf(*row);
  reply.set_cohort(ToText(row->trial.cohort));
  for (const storage::TrialRecord& one : *cohort) {
    reply.add_cohort_trials(ToText(one.id));
  }
  for (const auto& [key, value] : settings->values()) {
    (*reply.mutable_settings())[key] = ToProto(value);
  }
  *reply.mutable_dataset() = ToProto(row->cell.dataset);
  AddNewest(*attempts, *orphans, trial, reply);
  for (const auto& [number, records] : *orphans) {
    reply.set_orphan_records(reply.orphan_records() + records);
  }
  if (*result) *reply.mutable_result() = ResultOf(**result);
  reply.set_cell_hash(row->cell.hash);
  return reply;
}

absl::StatusOr<std::string> TrainerConfigOf(const storage::StoreReader& reader,
                                            const TrialId& trial) {
  const auto row = reader.GetTrial(trial);
  if (!row.ok()) return row.status();
  auto settings = SettingsOf(row->cell);
  if (!settings.ok()) return settings.status();
  const auto cohort = reader.CohortTrials(row->trial.cohort);
  if (!cohort.ok()) return cohort.status();
  const auto attempts = reader.ListAttempts(row->trial.cohort);
  if (!attempts.ok()) return attempts.status();
  const auto result = reader.FindResult(trial);
  if (!result.ok()) return result.status();

  spec::TrainerConfig config;
  config.settings = *std::move(settings);
  config.dataset = DatasetOf(row->cell.dataset);
  for (const storage::TrialRecord& one : *cohort) {
    config.seeds.push_back(one.seed);
  }
  if (const auto* attempt = AttemptThatRan(*attempts, *result)) {
    RunAs(*attempt, config);
  }
  return spec::TrainerConfigJson(config);
}

}  // namespace leadline::rpc
