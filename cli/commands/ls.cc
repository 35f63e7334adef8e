#include <ctime>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/failed_kind.h"
#include "cli/numbers.h"
#include "cli/since.h"
#include "cli/sweep_rows.h"
#include "cli/table.h"
#include "flags/values.h"

namespace leadline::cli {
namespace {

constexpr size_t kNameWidth = 40;

struct Options {
  int64_t limit = 20;
  std::string failed_kind;
  std::vector<std::string> states;
  std::vector<std::string> tags;
  std::string user;
  std::string name;
  std::string since;
  bool archived = false;
  bool all = false;

  bool IsNarrow() const {
    return !failed_kind.empty() || !states.empty() || !tags.empty() ||
           !user.empty() || !name.empty() || !since.empty() || archived;
  }
};

absl::StatusOr<v1::ListSweepsRequest> Wanted(const Options& options) {
  v1::ListSweepsRequest wanted;
  wanted.set_failed_kind(options.failed_kind);
  for (const std::string& state : options.states) wanted.add_states(state);
  for (const std::string& tag : options.tags) wanted.add_tags(tag);
  wanted.set_user(options.user);
  wanted.set_name(options.name);
  if (!options.since.empty()) {
    const auto since = ParseSince(options.since, std::time(nullptr));
    if (!since.ok()) return since.status();
    wanted.set_since(*since);
  }
  if (options.archived) wanted.set_archived("only");
  if (options.all) wanted.set_archived("too");
  return wanted;
}

/// Columns that most lists do without.
void AddRemarks(const SweepList& list, Table& table, const Style& style) {
  bool tagged = false;
  bool noted = false;
  for (const v1::SweepSummary& sweep : list.sweeps) {
    tagged = tagged || sweep.tags_size() > 0;
    noted = noted || !sweep.note().empty();
  }
  if (tagged) table.columns.push_back({"tags"});
  if (noted) table.columns.push_back({"note"});
  for (size_t i = 0; i < list.sweeps.size(); ++i) {
    const v1::SweepSummary& sweep = list.sweeps[i];
    if (tagged) {
      table.rows[i].push_back(
          Shorten(TagsText(sweep, style), kNameWidth, style.charset));
    }
    if (noted) {
      table.rows[i].push_back(
          Shorten(style.Clean(sweep.note()), kNameWidth, style.charset));
    }
  }
}

std::string StateText(const v1::SweepSummary& sweep) {
  return sweep.state() + (sweep.archived_at().empty() ? "" : ", archived");
}

/// Archived ones may be what nobody thought of.
std::string NothingText(Connection& connection, const Options& options,
                        v1::ListSweepsRequest wanted) {
  std::string nothing =
      options.IsNarrow() ? "no sweep is like that\n" : "no sweeps yet\n";
  if (options.archived || options.all) return nothing;
  wanted.set_archived("only");
  const auto archived = FetchSweeps(connection, 1, std::move(wanted));
  if (!archived.ok() || archived->total == 0) return nothing;
  return fmt::format("none but {} in the archive: --all lists archived ones\n",
                     Grouped(archived->total));
}

std::string ListText(const SweepList& list, const Style& style) {
  Table table{{{"sweep"}, {"name"}, {"state"}, {"submitted"}}, {}};
  for (const char* title : {"trials", "succeeded", "diverged", "running",
                            "queued", "failed", "cancelled"}) {
    table.columns.push_back({title, Align::kRight});
  }
  for (const v1::SweepSummary& sweep : list.sweeps) {
    table.rows.push_back(
        {sweep.sweep(),
         Shorten(style.Clean(sweep.name()), kNameWidth, style.charset),
         StateText(sweep), sweep.submitted_at(), Grouped(sweep.trials()),
         Grouped(sweep.succeeded()), Grouped(sweep.diverged()),
         Grouped(sweep.running()), Grouped(sweep.queued()),
         Grouped(sweep.failed()), Grouped(sweep.cancelled())});
  }
  AddRemarks(list, table, style);
  std::string text = Render(table, style);
  const auto shown = static_cast<int64_t>(list.sweeps.size());
  if (shown < list.total) {
    text += fmt::format("{} of {} sweeps; --limit shows more\n", Grouped(shown),
                        Grouped(list.total));
  }
  return text;
}

Json ListJson(const SweepList& list) {
  Json sweeps = Json::array();
  for (const auto& sweep : list.sweeps) sweeps.push_back(SweepJson(sweep));
  return {{"total", list.total}, {"sweeps", sweeps}};
}

absl::Status Ls(Context& context, const Options& options) {
  const auto wanted = Wanted(options);
  if (!wanted.ok()) return wanted.status();
  const auto connection = context.Connect();
  if (!connection.ok()) return connection.status();
  const auto list = FetchSweeps(**connection, options.limit, *wanted);
  if (!list.ok()) return list.status();
  if (context.output.json()) context.output.PrintJson(ListJson(*list));
  context.output.Print(list->total == 0
                           ? NothingText(**connection, options, *wanted)
                           : ListText(*list, context.output.out()));
  return absl::OkStatus();
}

}  // namespace

Command LsCommand() {
  return {
      "ls", "list sweeps, newest first",
      "  leadline ls\n"
      "  leadline ls --limit 1000 --json\n"
      "  leadline ls --in-state active --user ada --since 7d\n"
      "  leadline ls --tag paper --all        # archived ones too\n"
      "  leadline ls --failed-kind oom        # sweeps in which memory ran "
      "out\n",
      [](CLI::App& app) -> Action {
        auto options = std::make_shared<Options>();
        app.add_option("--limit", options->limit,
                       "sweeps to list at most (default 20)")
            ->option_text("N")
            ->check(flags::WholeNumber(1, 1000000));
        app.add_option("--in-state", options->states,
                       "those alone that are active, paused, complete or "
                       "cancelled; may be given more than once")
            ->option_text("STATE")
            ->check(
                flags::OneOf({"active", "paused", "complete", "cancelled"}));
        app.add_option("--tag", options->tags,
                       "those alone with all of these tags")
            ->option_text("TAG");
        app.add_option("--user", options->user,
                       "those alone that were submitted by that user")
            ->option_text("NAME");
        app.add_option("--name", options->name,
                       "those alone with that in their name")
            ->option_text("TEXT");
        app.add_option("--since", options->since,
                       "those alone submitted since: 7d, 12h, 30m, "
                       "2026-11-29 or 2026-11-29T15:04:05Z")
            ->option_text("TIME");
        app.add_flag("--archived", options->archived,
                     "those alone that are archived");
        app.add_flag("--all", options->all,
                     "archived ones too, which are left out otherwise");
        AddFailedKind(app, &options->failed_kind);
        return [options](Context& context) { return Ls(context, *options); };
      }};
}

}  // namespace leadline::cli
