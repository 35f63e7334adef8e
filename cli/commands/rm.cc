#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands/commands.h"
#include "cli/numbers.h"
#include "cli/sweep_file.h"
#include "common/human_number.h"
#include "common/ids.h"

namespace leadline::cli {
namespace {

struct Options {
  std::vector<std::string> targets;
  bool dry_run = false;
  bool yes = false;
};

absl::StatusOr<v1::RemoveReply> Ask(Connection& connection,
                                    const v1::RemoveRequest& request) {
  return connection.Ask<v1::RemoveReply>(
      [&](grpc::ClientContext* call, v1::RemoveReply* answer) {
        return connection.sweeps().Remove(call, request, answer);
      });
}

bool IsTrial(const v1::RemovedTarget& target) {
  return ParseTrialId(target.target()).has_value();
}

std::string Line(const v1::RemovedTarget& target, const Style& style) {
  std::string text = style.Clean(target.target()) + ": ";
  if (!IsTrial(target)) {
    text += fmt::format("{}, {}, ", Counted(target.trials(), "trial"),
                        Counted(target.attempts(), "attempt"));
  }
  text += fmt::format("{} of curves, {} with routing, about {}",
                      Counted(target.points(), "point"),
                      Counted(target.routings(), "evaluation"),
                      HumanBytes(target.bytes()));
  return text + (IsTrial(target) ? "; its result stays\n" : "\n");
}

std::string Line(const v1::NodeFiles& files, const Style& style) {
  const std::string text = "on " + style.Clean(files.node()) + ": ";
  if (!files.unknown().empty()) {
    return text + "not known how much, " + style.Clean(files.unknown()) + "\n";
  }
  if (files.attempts() + files.checkpoints() == 0 && !files.at_least()) {
    return text + "nothing\n";
  }
  return text + fmt::format(
                    "event files and logs of {}, checkpoints of {}, "
                    "{}{}\n",
                    Counted(files.attempts(), "attempt"),
                    Counted(files.checkpoints(), "cohort"),
                    files.at_least() ? "at least " : "",
                    HumanBytes(files.bytes()));
}

std::string List(const v1::RemoveReply& reply, bool is_private,
                 const Style& style) {
  std::string text;
  for (const auto& target : reply.targets()) text += Line(target, style);
  for (const auto& files : reply.nodes()) text += Line(files, style);
  return text +
         fmt::format(
             "The room in the database is used again; its file does not "
             "shrink. What agents keep of\na removed sweep (event files, "
             "logs, checkpoints) goes {};\nof trials alone it stays for "
             "--keep-days and --keep-mb.\n",
             is_private ? "with the next `leadline run`"
                        : "when they are next in touch");
}

Json NodesJson(const v1::RemoveReply& reply) {
  Json nodes = Json::array();
  for (const v1::NodeFiles& files : reply.nodes()) {
    const bool is_known = files.unknown().empty();
    nodes.push_back(
        {{"node", files.node()},
         {"attempts", is_known ? Json(files.attempts()) : Json()},
         {"checkpoints", is_known ? Json(files.checkpoints()) : Json()},
         {"bytes", is_known ? Json(files.bytes()) : Json()},
         {"at_least", is_known ? Json(files.at_least()) : Json()},
         {"unknown", is_known ? Json() : Json(files.unknown())}});
  }
  return nodes;
}

Json RemoveJson(const v1::RemoveReply& reply, bool removed) {
  Json targets = Json::array();
  for (const v1::RemovedTarget& target : reply.targets()) {
    targets.push_back({{"target", target.target()},
                       {"trials", target.trials()},
                       {"attempts", target.attempts()},
                       {"points", target.points()},
                       {"routings", target.routings()},
                       {"bytes", target.bytes()}});
  }
  return {
      {"removed", removed}, {"targets", targets}, {"nodes", NodesJson(reply)}};
}

absl::StatusOr<bool> IsWanted(Context& context, const Options& options) {
  if (options.yes) return true;
  if (isatty(STDIN_FILENO) == 0 || context.output.json()) {
    return absl::InvalidArgumentError(
        "nobody can be asked here; --yes removes, --dry-run only tells what "
        "would go");
  }
  context.output.Print("Remove this for good? [y/N] ");
  context.output.Flush();
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

absl::Status Remove(Context& context, const Options& options) {
  const auto connection = context.Connect();
  if (!connection.ok()) return connection.status();
  v1::RemoveRequest request;
  for (const auto& target : options.targets) request.add_targets(target);
  request.set_dry_run(true);
  const auto would = Ask(**connection, request);
  if (!would.ok()) return would.status();
  const std::string list = List(
      *would, (*connection)->coordinator().is_private(), context.output.out());
  if (options.dry_run) {
    if (context.output.json()) {
      context.output.PrintJson(RemoveJson(*would, false));
    }
    context.output.Print(list);
    return absl::OkStatus();
  }
  context.output.Print(list);
  const auto wanted = IsWanted(context, options);
  if (!wanted.ok()) return wanted.status();
  if (!*wanted) {
    context.output.Print("nothing was removed\n");
    return absl::OkStatus();
  }
  // By their ids: asking again must not find another sweep by its name.
  request.clear_targets();
  for (const auto& target : would->targets()) {
    request.add_targets(target.target());
  }
  request.set_dry_run(false);
  request.set_request_id(FreshRequestId());
  const auto done = Ask(**connection, request);
  if (!done.ok()) return done.status();
  if (context.output.json()) {
    context.output.PrintJson(RemoveJson(*would, true));
  }
  context.output.Print("removed\n");
  return absl::OkStatus();
}

}  // namespace

Command RmCommand() {
  return {
      "rm", "remove sweeps that have ended, or the curves of trials",
      "  leadline rm s1 --dry-run             # what would go, and how much\n"
      "  leadline rm s1 s2 --yes\n"
      "  leadline rm s3.1.0                   # its curves and routing; its "
      "result stays\n"
      "\n"
      "It says first what goes: in the database, and event files, logs and "
      "checkpoints\non the nodes (twice what agents share, see their "
      "--checkpoints).\n\n"
      "A removed sweep cannot be brought back but from a backup, and its id "
      "is never\nused again. What has not ended is refused: cancel it "
      "first.\n",
      [](CLI::App& app) -> Action {
        auto options = std::make_shared<Options>();
        app.add_option("target", options->targets,
                       "ids of sweeps or trials, or unique prefixes of "
                       "sweeps' names")
            ->option_text("TARGET...")
            ->required();
        app.add_flag("--dry-run", options->dry_run, "only tell what would go");
        app.add_flag("--yes", options->yes, "do not ask");
        return
            [options](Context& context) { return Remove(context, *options); };
      }};
}

}  // namespace leadline::cli
