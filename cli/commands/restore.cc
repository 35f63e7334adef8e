#include <CLI/CLI.hpp>

#include "cli/commands/commands.h"
#include "cli/offline_program.h"

namespace leadline::cli {

Command RestoreCommand() {
  return {
      "restore", "put a backup in the place of the database",
      "  leadline restore 2026-11-30.db\n"
      "  leadline restore 2026-11-30.db --state /var/lib/leadline\n"
      "\n"
      "On the machine of the state folder, while no coordinator has it. The "
      "backup is\nlooked through first. The database that was there is kept "
      "beside it, under a name\nwith the time. Where LEADLINE_COORDINATOR is "
      "set, --state or LEADLINE_STATE "
      "names\nthe folder.\n",
      [](CLI::App& app) -> Action {
        auto file = std::make_shared<std::string>();
        app.add_option("file", *file, "made by leadline backup")
            ->option_text("FILE")
            ->required();
        return [file](Context& context) {
          return BecomeOfflineProgram(context, {"restore", *file, true});
        };
      }};
}

}  // namespace leadline::cli
