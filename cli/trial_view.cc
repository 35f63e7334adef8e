#include "cli/trial_view.h"

#include <map>

#include <fmt/format.h>

#include "cli/attempt_rows.h"
#include "cli/numbers.h"
#include "cli/table.h"
#include "common/human_number.h"

namespace leadline::cli {
namespace {

std::string ValueText(const v1::SettingValue& value) {
  switch (value.value_case()) {
    case v1::SettingValue::kInteger:
      return std::to_string(value.integer());
    case v1::SettingValue::kNumber:
      return fmt::format("{}", value.number());
    default:
      return value.word();
  }
}

Json ValueJson(const v1::SettingValue& value) {
  switch (value.value_case()) {
    case v1::SettingValue::kInteger:
      return value.integer();
    case v1::SettingValue::kNumber:
      return JsonNumber(value.number());
    default:
      return value.word();
  }
}

// A proto map has no order of its own.
std::map<std::string, v1::SettingValue> Sorted(
    const v1::ShowTrialReply& reply) {
  return {reply.settings().begin(), reply.settings().end()};
}

// As measured before the result was written.
std::string DeterminismText(const std::string& word) {
  if (word == "bit_exact") return "a step computed again gave the same bits";
  if (word == "within_tolerance") {
    return "a step computed again differed by rounding";
  }
  if (word == "differs") {
    return "a step computed again gave other numbers; see the trainer's log";
  }
  return "not measured";
}

std::string ResultText(const v1::TrialResult& result, const Style& style) {
  std::string text =
      fmt::format("  validation loss {} {}\n", result.validation_loss(),
                  style.Clean(result.unit()));
  if (result.has_best_validation_loss()) {
    text += fmt::format("  best            {} at step {}\n",
                        result.best_validation_loss(), result.best_step());
  }
  return text +
         fmt::format("  steps {}, tokens {}, {}, peak {}, {} parameters\n",
                     Grouped(result.steps()), Grouped(result.tokens()),
                     HumanDuration(result.seconds()),
                     HumanBytes(result.peak_bytes()),
                     Grouped(result.parameters())) +
         "  determinism     " + DeterminismText(result.determinism()) + "\n";
}

Json ResultJson(const v1::ShowTrialReply& reply) {
  if (!reply.has_result()) return nullptr;
  const v1::TrialResult& result = reply.result();
  // The test split is shown only when it is asked for.
  return {
      {"validation_loss", JsonNumber(result.validation_loss())},
      {"best_validation_loss", JsonOptional(result.has_best_validation_loss(),
                                            result.best_validation_loss())},
      {"best_step", JsonOptional(result.has_best_step(), result.best_step())},
      {"unit", result.unit()},
      {"steps", result.steps()},
      {"tokens", result.tokens()},
      {"seconds", JsonNumber(result.seconds())},
      {"peak_bytes", result.peak_bytes()},
      {"parameters", result.parameters()},
      {"determinism", result.determinism()}};
}

// What was cancelled before it began is no broken-off work.
std::string StateText(const v1::TrialSummary& trial) {
  const bool never_began =
      trial.attempts() == 0 && trial.state() == "cancelled";
  return trial.state() + (never_began ? " before it began" : "");
}

}  // namespace

std::string RenderTrial(const v1::ShowTrialReply& reply, const Style& style) {
  const v1::TrialSummary& trial = reply.trial();
  std::string text = fmt::format(
      "{}: {}{}\n", style.Bold(trial.trial()), StateText(trial),
      trial.reason().empty() ? "" : ", " + style.Clean(trial.reason()));
  text += fmt::format("  cell {}, seed {}, depth {}, {}, {}\n", trial.cell(),
                      trial.seed(), trial.depth(), style.Clean(trial.dataset()),
                      style.Clean(trial.method()));
  text += fmt::format("  cohort {} of {}, identity {}\n", reply.cohort(),
                      Counted(reply.cohort_trials_size(), "trial"),
                      reply.cell_hash());
  if (reply.has_result()) text += ResultText(reply.result(), style);
  text += "settings:\n";
  for (const auto& [key, value] : Sorted(reply)) {
    text += "  " + PadRight(style.Clean(key), 24) + " " +
            style.Clean(ValueText(value)) + "\n";
  }
  text += RenderAttempts(reply.attempts(), style);
  if (reply.orphan_records() > 0) {
    text += fmt::format(
        "orphans: {} came too late; leadline explain {} lists "
        "them\n",
        Counted(reply.orphan_records(), "record"), trial.trial());
  }
  return text;
}

Json TrialDetailsJson(const v1::ShowTrialReply& reply) {
  Json json = TrialJson(reply.trial());
  json["cohort"] = reply.cohort();
  json["cohort_trials"] = std::vector<std::string>(
      reply.cohort_trials().begin(), reply.cohort_trials().end());
  json["cell_hash"] = reply.cell_hash();
  json["result"] = ResultJson(reply);
  Json settings = Json::object();
  for (const auto& [key, value] : Sorted(reply)) {
    settings[key] = ValueJson(value);
  }
  json["settings"] = settings;
  const v1::Dataset& data = reply.dataset();
  json["data"] = {{"name", data.name()},
                  {"path", data.path()},
                  {"content_hash", data.content_hash()},
                  {"tokenizer", data.tokenizer()},
                  {"split",
                   {data.train_fraction(), data.validation_fraction(),
                    data.test_fraction()}}};
  json["attempt_list"] = AttemptsJson(reply.attempts());
  json["orphan_records"] = reply.orphan_records();
  return json;
}

std::string RenderTrials(const TrialList& list, const Style& style) {
  Table table{{{"trial"},
               {"seed", Align::kRight},
               {"depth", Align::kRight},
               {"dataset"},
               {"method"},
               {"state"},
               {"attempts", Align::kRight},
               {"last failure"},
               {"validation loss", Align::kRight},
               {"reason"}},
              {}};
  for (const v1::TrialSummary& trial : list.trials) {
    table.rows.push_back(
        {trial.trial(), std::to_string(trial.seed()),
         std::to_string(trial.depth()), style.Clean(trial.dataset()),
         style.Clean(trial.method()), StateText(trial),
         std::to_string(trial.attempts()), style.Clean(trial.failed_kind()),
         trial.has_validation_loss()
             ? fmt::format("{:.4f}", trial.validation_loss())
             : "",
         style.Clean(trial.reason())});
  }
  std::string text = Render(table, style);
  const auto shown = static_cast<int64_t>(list.trials.size());
  if (shown < list.total) {
    text += fmt::format("{} of {} trials; --all lists all\n", Grouped(shown),
                        Grouped(list.total));
  }
  return text;
}

Json TrialsJson(const TrialList& list) {
  Json trials = Json::array();
  for (const auto& trial : list.trials) trials.push_back(TrialJson(trial));
  return trials;
}

std::string RenderSweep(const v1::SweepSummary& sweep, const Style& style) {
  std::string text =
      fmt::format("{} {}: {}\n", sweep.sweep(),
                  style.Bold(style.Clean(sweep.name())), sweep.state());
  if (!sweep.description().empty()) {
    text += "  " + style.Clean(sweep.description()) + "\n";
  }
  text += fmt::format("  submitted {} by {}\n", sweep.submitted_at(),
                      style.Clean(sweep.user()));
  if (!sweep.archived_at().empty()) {
    text += "  archived " + style.Clean(sweep.archived_at()) + "\n";
  }
  if (sweep.tags_size() > 0) text += "  tags: " + TagsText(sweep, style) + "\n";
  if (!sweep.note().empty()) {
    text += "  note: " + style.Clean(sweep.note()) + "\n";
  }
  return text + fmt::format(
                    "  {}, {}: {} succeeded, {} diverged, {} running, {} "
                    "queued, {} failed, {} cancelled{}\n",
                    Counted(sweep.cells(), "cell"),
                    Counted(sweep.trials(), "trial"),
                    Grouped(sweep.succeeded()), Grouped(sweep.diverged()),
                    Grouped(sweep.running()), Grouped(sweep.queued()),
                    Grouped(sweep.failed()), Grouped(sweep.cancelled()),
                    sweep.never_began() == 0
                        ? ""
                        : fmt::format(" ({} before they began)",
                                      Grouped(sweep.never_began())));
}

}  // namespace leadline::cli
