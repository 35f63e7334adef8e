#include "cli/attempt_rows.h"

#include "cli/numbers.h"
#include "cli/table.h"

namespace leadline::cli {
namespace {

// Those of none, or not known, are left blank.
std::string CountText(int64_t count) {
  return count == 0 ? "" : Grouped(count);
}

std::string MessageOf(const v1::AttemptSummary& attempt) {
  if (attempt.outcome() == "live" && !attempt.stop_reason().empty()) {
    return "asked to stop: " + attempt.stop_reason();
  }
  return attempt.message();
}

Json AttemptJson(const v1::AttemptSummary& attempt) {
  return {{"attempt", attempt.attempt()},
          {"cohort", attempt.cohort()},
          {"node", attempt.node()},
          {"device", attempt.device()},
          {"started_at", attempt.started_at()},
          {"ended_at", attempt.ended_at()},
          {"outcome", attempt.outcome()},
          {"kind", attempt.kind()},
          {"message", attempt.message()},
          {"numerics", attempt.numerics()},
          {"threads", attempt.threads()},
          {"step", attempt.step()},
          {"orphans", attempt.orphans()},
          {"stop_reason", attempt.stop_reason()},
          {"ranks", RanksJson(attempt.ranks())}};
}

}  // namespace

std::string RenderAttempts(const Attempts& attempts, const Style& style) {
  if (attempts.empty()) return "attempts: none yet\n";
  Table table{{{"attempt"},
               {"node"},
               {"device"},
               {"threads", Align::kRight},
               {"started"},
               {"ended"},
               {"outcome"},
               {"kind"},
               {"step", Align::kRight},
               {"orphans", Align::kRight},
               {"message"}},
              {}};
  for (const v1::AttemptSummary& attempt : attempts) {
    table.rows.push_back(
        {style.Clean(attempt.attempt()), style.Clean(attempt.node()),
         style.Clean(attempt.device()), CountText(attempt.threads()),
         style.Clean(attempt.started_at()), style.Clean(attempt.ended_at()),
         style.Clean(attempt.outcome()), style.Clean(attempt.kind()),
         CountText(attempt.step()), CountText(attempt.orphans()),
         style.Clean(MessageOf(attempt))});
  }
  std::string text = "attempts:\n" + Render(table, style);
  for (const v1::AttemptSummary& attempt : attempts) {
    if (attempt.ranks_size() < 2) continue;
    text += "ranks of " + style.Clean(attempt.attempt()) + ":\n" +
            RenderRanks(attempt.ranks(), style);
  }
  return text;
}

std::string RenderRanks(const Ranks& ranks, const Style& style) {
  Table table{
      {{"rank", Align::kRight}, {"node"}, {"devices"}, {"pid", Align::kRight}},
      {}};
  for (const v1::AttemptRank& rank : ranks) {
    std::string devices;
    for (const std::string& device : rank.devices()) {
      devices += (devices.empty() ? "" : " ") + style.Clean(device);
    }
    table.rows.push_back({std::to_string(rank.rank()), style.Clean(rank.node()),
                          devices,
                          rank.pid() > 0 ? std::to_string(rank.pid()) : ""});
  }
  return Render(table, style);
}

Json RanksJson(const Ranks& ranks) {
  Json list = Json::array();
  for (const v1::AttemptRank& rank : ranks) {
    list.push_back({{"rank", rank.rank()},
                    {"node", rank.node()},
                    {"devices", std::vector<std::string>(rank.devices().begin(),
                                                         rank.devices().end())},
                    {"pid", JsonOptional(rank.pid() > 0, rank.pid())}});
  }
  return list;
}

Json AttemptsJson(const Attempts& attempts) {
  Json list = Json::array();
  for (const v1::AttemptSummary& attempt : attempts) {
    list.push_back(AttemptJson(attempt));
  }
  return list;
}

}  // namespace leadline::cli
