#include <CLI/CLI.hpp>

#include "cli/commands/commands.h"
#include "cli/edit_sweep.h"

namespace leadline::cli {
namespace {

struct Options {
  std::string sweep;
  std::string text;
};

absl::Status Note(Context& context, const Options& options) {
  size_t bad_byte = 0;
  if (!IsUtf8(options.text, &bad_byte)) {
    return absl::InvalidArgumentError("a note is UTF-8 text");
  }
  v1::EditRequest request;
  request.set_sweep(options.sweep);
  request.set_note(options.text);
  return EditSweep(context, std::move(request));
}

}  // namespace

Command NoteCommand() {
  return {"note", "say something of a sweep, for those who list it",
          "  leadline note s1 'second run, after the fix of the data'\n"
          "  leadline note s1 ''                  # takes the note away\n",
          [](CLI::App& app) -> Action {
            auto options = std::make_shared<Options>();
            app.add_option("sweep", options->sweep,
                           "id, or unique prefix of a sweep's name")
                ->option_text("SWEEP")
                ->required();
            app.add_option("text", options->text,
                           "in place of what was there; empty: none")
                ->option_text("TEXT")
                ->required();
            return
                [options](Context& context) { return Note(context, *options); };
          }};
}

}  // namespace leadline::cli
