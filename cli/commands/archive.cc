#include <CLI/CLI.hpp>

#include "cli/commands/commands.h"
#include "cli/edit_sweep.h"

namespace leadline::cli {
namespace {

struct Options {
  std::string sweep;
  bool undo = false;
};

}  // namespace

Command ArchiveCommand() {
  return {
      "archive", "leave a sweep that has ended out of lists",
      "  leadline archive s1\n"
      "  leadline ls --archived               # what is in the archive\n"
      "  leadline archive s1 --undo\n"
      "\n"
      "Everything of it stays and can be asked for by its id. A retry takes "
      "it out of\nthe archive. leadline-coordinator --keep-archived DAYS "
      "removes the curves of what\nhas been archived for so long.\n",
      [](CLI::App& app) -> Action {
        auto options = std::make_shared<Options>();
        app.add_option("sweep", options->sweep,
                       "id, or unique prefix of a sweep's name")
            ->option_text("SWEEP")
            ->required();
        app.add_flag("--undo", options->undo,
                     "take it out of the archive again");
        return [options](Context& context) {
          v1::EditRequest request;
          request.set_sweep(options->sweep);
          request.set_archived(!options->undo);
          return EditSweep(context, std::move(request));
        };
      }};
}

}  // namespace leadline::cli
