#include "cli/explanation_view.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/attempt_rows.h"
#include "cli/numbers.h"
#include "cli/table.h"
#include "common/experiment.h"
#include "common/human_number.h"

namespace leadline::cli {
namespace {

// "in 12 s, at 2026-11-29T15:04:05Z".
std::string When(double seconds, const std::string& at, const Style& style) {
  return fmt::format("in {}, at {}",
                     HumanDuration(std::ceil(std::max(seconds, 0.0))),
                     style.Clean(at));
}

std::string LeaseText(const v1::LiveAttemptNow& live) {
  if (live.lease_seconds() >= 0) {
    return "ends in " + HumanDuration(live.lease_seconds());
  }
  std::string text = "ended " + HumanDuration(-live.lease_seconds()) + " ago";
  if (live.has_given_up_in_seconds()) {
    text += ", given up in " +
            HumanDuration(std::max(live.given_up_in_seconds(), 0.0));
  }
  return text;
}

std::string LastRecordText(const v1::LiveAttemptNow& live) {
  if (!live.has_last_record_seconds()) return "none yet";
  return HumanDuration(live.last_record_seconds()) + " ago";
}

// What holds it up, or that it is to end.
std::string NoteOf(const v1::LiveAttemptNow& live) {
  if (!live.stop_reason().empty()) {
    return "asked to stop: " + live.stop_reason();
  }
  return live.waiting_for();
}

std::string DeviceOf(const v1::LiveAttemptNow& live) {
  if (!live.device().empty()) return live.device();
  return fmt::format("{}", fmt::join(live.devices(), ", "));
}

std::string RenderLive(const v1::LiveAttemptNow& live, const Style& style) {
  std::string text =
      fmt::format("now: attempt {} on {} ({}), {} since {}\n", live.number(),
                  style.Clean(live.node()), style.Clean(DeviceOf(live)),
                  style.Clean(live.state()), style.Clean(live.started_at()));
  text +=
      fmt::format("  step {} of {}, {} tokens/s, last record {}\n",
                  Grouped(live.step()), Grouped(live.steps()),
                  HumanCount(live.tokens_per_second()), LastRecordText(live));
  text += "  lease " + LeaseText(live) + "\n";
  const std::string note = NoteOf(live);
  if (!note.empty()) text += "  " + style.Clean(note) + "\n";
  return text;
}

std::string RenderTrial(const v1::TrialExplanation& trial, const Style& style) {
  std::string text =
      fmt::format("{}: {}\n  {}\n", style.Bold(style.Clean(trial.trial())),
                  style.Clean(trial.state()), style.Clean(trial.summary()));
  if (trial.has_retry_in_seconds()) {
    text += fmt::format("  tried again {}\n", When(trial.retry_in_seconds(),
                                                   trial.retry_at(), style));
  }
  text += fmt::format(
      "  cohort {} of {}; sweep {} is {}\n", style.Clean(trial.cohort()),
      Counted(trial.cohort_trials_size(), "trial"), style.Clean(trial.sweep()),
      style.Clean(trial.sweep_state()));
  if (trial.tries() > 0) {
    text += fmt::format("  tries used up: {} of {} in a row, {} of {} in all\n",
                        trial.failures(), trial.tries(),
                        trial.failures_in_total(), trial.tries_in_total());
  }
  if (trial.has_live()) text += RenderLive(trial.live(), style);
  if (trial.attempts_left_out() > 0) {
    text += fmt::format(
        "{} older attempts are left out; the view attempts of "
        "the database has all\n",
        Grouped(trial.attempts_left_out()));
  }
  text += RenderAttempts(trial.attempts(), style);
  if (trial.orphan_records() == 0) return text;
  text += fmt::format(
      "orphans: {} of attempts that counted no more, kept apart and part of "
      "nothing\n",
      Counted(trial.orphan_records(), "record"));
  for (const v1::OrphanSummary& orphan : trial.orphans()) {
    text += fmt::format("  {} #{}: {}\n", style.Clean(orphan.attempt()),
                        orphan.sequence(), style.Clean(orphan.text()));
  }
  if (trial.orphans_size() < trial.orphan_records()) {
    text += fmt::format("  {} of {}\n", trial.orphans_size(),
                        Grouped(trial.orphan_records()));
  }
  return text;
}

std::string Counts(const v1::SweepExplanation& sweep) {
  std::string text = Counted(sweep.planned(), "trial");
  const char* between = ": ";
  for (const TrialState state : kTrialStates) {
    const auto found = sweep.trials().find(std::string(Name(state)));
    if (found == sweep.trials().end() || found->second == 0) continue;
    text +=
        fmt::format("{}{} {}", between, Grouped(found->second), Name(state));
    between = ", ";
  }
  return text;
}

// "(s1.3.0, ...)": which, by an example.
std::string Which(int64_t trials, const std::string& first,
                  const Style& style) {
  return fmt::format("({}{})", style.Clean(first), trials > 1 ? ", ..." : "");
}

std::string RenderWaiting(const v1::SweepExplanation& sweep,
                          const Style& style) {
  if (sweep.waiting().empty()) return "";
  std::string text = "waiting:\n";
  for (const v1::WaitingTrials& group : sweep.waiting()) {
    text += fmt::format("  {} {} {}: {}", Counted(group.trials(), "trial"),
                        style.Clean(group.state()),
                        Which(group.trials(), group.first(), style),
                        style.Clean(group.reason()));
    if (group.has_retry_in_seconds()) {
      text += "; tried again " +
              When(group.retry_in_seconds(), group.retry_at(), style);
    }
    text += "\n";
  }
  if (sweep.waiting_left_out() > 0) {
    text += fmt::format("  and {}\n",
                        Counted(sweep.waiting_left_out(), "further reason"));
  }
  return text;
}

std::string RenderRunning(const v1::SweepExplanation& sweep,
                          const Style& style) {
  if (sweep.running().empty()) return "";
  Table table{{{"attempt"},
               {"node"},
               {"device"},
               {"state"},
               {"since"},
               {"step", Align::kRight},
               {"last record"},
               {"lease"},
               {"note"}},
              {}};
  for (const v1::LiveAttemptNow& live : sweep.running()) {
    table.rows.push_back(
        {style.Clean(live.attempt()), style.Clean(live.node()),
         style.Clean(DeviceOf(live)), style.Clean(live.state()),
         style.Clean(live.started_at()),
         fmt::format("{}/{}", live.step(), live.steps()), LastRecordText(live),
         LeaseText(live), style.Clean(NoteOf(live))});
  }
  std::string text = "running:\n" + Render(table, style);
  if (sweep.running_left_out() > 0) {
    text += fmt::format("and {}\n",
                        Counted(sweep.running_left_out(), "further attempt"));
  }
  return text;
}

std::string RenderEnded(const v1::SweepExplanation& sweep, const Style& style) {
  if (sweep.ended().empty()) return "";
  std::string text = "ended otherwise than by success:\n";
  for (const v1::EndedTrials& group : sweep.ended()) {
    text += fmt::format(
        "  {} {}{} {}{}\n", Counted(group.trials(), "trial"),
        style.Clean(group.state()), group.began() ? "" : " before it began",
        Which(group.trials(), group.first(), style),
        group.reason().empty() ? "" : ": " + style.Clean(group.reason()));
  }
  if (sweep.ended_left_out() > 0) {
    text += fmt::format("  and {}\n",
                        Counted(sweep.ended_left_out(), "further trial"));
  }
  return text;
}

std::string RenderFailures(const v1::SweepExplanation& sweep,
                           const Style& style) {
  std::string text;
  for (const v1::FailuresOfKind& failures : sweep.failures()) {
    text += fmt::format(
        "  {} of kind {}, of {}; leadline show {} --failed-kind {} lists "
        "them\n",
        Counted(failures.attempts(), "attempt"), style.Clean(failures.kind()),
        Counted(failures.trials(), "trial"), style.Clean(sweep.sweep()),
        style.Clean(failures.kind()));
  }
  return text.empty() ? "" : "failures, whatever came after:\n" + text;
}

std::string RenderSweep(const v1::SweepExplanation& sweep, const Style& style) {
  std::string text =
      fmt::format("{} {}: {}\n  {}\n  {}; {}\n", style.Clean(sweep.sweep()),
                  style.Bold(style.Clean(sweep.name())),
                  style.Clean(sweep.state()), style.Clean(sweep.summary()),
                  Counts(sweep), Counted(sweep.live_agents(), "live agent"));
  text += RenderWaiting(sweep, style) + RenderRunning(sweep, style) +
          RenderEnded(sweep, style) + RenderFailures(sweep, style);
  if (sweep.orphan_records() > 0) {
    text += fmt::format(
        "orphans: {} of {} that counted no more, kept apart and part of "
        "nothing; leadline explain TRIAL lists them\n",
        Counted(sweep.orphan_records(), "record"),
        Counted(sweep.orphan_attempts(), "attempt"));
  }
  return text;
}

}  // namespace

std::string RenderExplanation(const v1::ExplainReply& reply,
                              const Style& style) {
  return reply.has_trial() ? RenderTrial(reply.trial(), style)
                           : RenderSweep(reply.sweep(), style);
}

}  // namespace leadline::cli
