#include <CLI/CLI.hpp>

#include "cli/commands/commands.h"
#include "cli/offline_program.h"

namespace leadline::cli {

Command FsckCommand() {
  return {
      "fsck", "look through a database for what should not be",
      "  leadline fsck                        # of the state folder, its "
      "coordinator stopped\n"
      "  leadline fsck 2026-11-30.db --json   # of a backup\n"
      "\n"
      "Its structure, that what is referred to is there, the rules of "
      "trials, attempts\nand results, and the views. Nothing is changed. "
      "Exit code 1 if something is found.\n",
      [](CLI::App& app) -> Action {
        auto file = std::make_shared<std::string>();
        app.add_option("file", *file,
                       "a backup; without one, the database of the state "
                       "folder")
            ->option_text("FILE");
        return [file](Context& context) {
          return BecomeOfflineProgram(context, {"fsck", *file, file->empty()});
        };
      }};
}

}  // namespace leadline::cli
