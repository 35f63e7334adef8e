#include "worker/checkpoint/export.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/checkpoint_target.h"
#include "cli/commands/commands.h"
#include "common/human_number.h"
#include "worker/checkpoint/checkpoint.h"

namespace leadline::cli {
namespace {

struct Options {
  CheckpointTarget target;
  std::string out;
};

absl::Status Write(Context& context, const Options& options,
                   const ChosenCheckpoint& chosen) {
  const checkpoint::Checkpoint from(chosen.folder);
  const int64_t bytes = checkpoint::Export(
      from, checkpoint::ReplicaOf(from, chosen.seed), options.out);
  if (context.output.json()) {
    context.output.PrintJson({{"out", options.out},
                              {"bytes", bytes},
                              {"checkpoint", chosen.folder.string()},
                              {"hash", from.hash()},
                              {"step", from.manifest().step},
                              {"seed", chosen.seed}});
  }
  const Style& style = context.output.out();
  context.output.Print(fmt::format(
      "{}: {} at step {}, seed {}, {}\n  {} and {}, of {}\n",
      style.Bold(style.Clean(options.out)), from.manifest().settings.method(),
      from.manifest().step, chosen.seed, HumanBytes(bytes),
      checkpoint::kModelFile, checkpoint::kConfigFile,
      style.Clean(chosen.folder.string())));
  return absl::OkStatus();
}

absl::Status Export(Context& context, const Options& options) {
  const auto chosen = ChooseCheckpoint(context, options.target);
  if (!chosen.ok()) return chosen.status();
  return Guarded(chosen->folder.string(),
                 [&] { return Write(context, options, *chosen); });
}

}  // namespace

Command ExportCommand() {
  return {"export", "one replica's weights as safetensors, for other programs",
          "  leadline export s1.3.0 --out model     # the newest checkpoint\n"
          "  leadline export s1.3.0 --best --out model\n"
          "  python3 examples/load_model.py model --text 'the '\n",
          [](CLI::App& app) -> Action {
            auto options = std::make_shared<Options>();
            AddCheckpointTarget(app, options->target);
            app.add_option("--out", options->out, "folder, not there yet")
                ->option_text("DIR")
                ->required();
            return [options](Context& context) {
              return Export(context, *options);
            };
          }};
}

}  // namespace leadline::cli
