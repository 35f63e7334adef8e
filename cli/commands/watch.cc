#include <CLI/CLI.hpp>

#include "cli/commands/commands.h"
#include "cli/follow.h"
#include "cli/progress_line.h"

namespace leadline::cli {
namespace {

struct Options {
  std::string sweep;
  int64_t patience_s = kPatience.count();
  bool strict = false;
};

absl::Status Watch(Context& context, const Options& options) {
  const auto connection = context.Connect();
  if (!connection.ok()) return connection.status();
  // Nobody told this command to wait for devices: it looks on.
  const auto last =
      Follow(context, **connection, options.sweep,
             {.give_up = std::chrono::seconds(0),
              .patience = std::chrono::seconds(options.patience_s),
              .lines_are_output = true});
  if (!last.ok()) return last.status();
  if (context.output.json()) context.output.PrintJson(ProgressJson(*last));
  const std::string warning = DivergedWarning(*last);
  if (!warning.empty()) context.output.Note(warning);
  return Verdict(*last, options.strict);
}

}  // namespace

Command WatchCommand() {
  return {"watch", "follow a sweep until it has ended",
          "  leadline watch s1\n"
          "  leadline watch \"depth study\"\n",
          [](CLI::App& app) -> Action {
            auto options = std::make_shared<Options>();
            app.add_option("sweep", options->sweep,
                           "id, or unique prefix of a name")
                ->option_text("SWEEP")
                ->required();
            AddPatience(app, &options->patience_s);
            app.add_flag("--strict", options->strict,
                         "diverged trials count as failed in the exit code");
            return [options](Context& context) {
              return Watch(context, *options);
            };
          }};
}

}  // namespace leadline::cli
