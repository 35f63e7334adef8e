#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/checkpoint_target.h"
#include "cli/commands/commands.h"
#include "cli/other_program.h"
#include "flags/values.h"

namespace leadline::cli {
namespace {

struct Options {
  CheckpointTarget target;
  std::string split = "validation";
  std::string data;
  int64_t threads = 1;
};

absl::Status Eval(Context& context, const Options& options) {
  const auto chosen = ChooseCheckpoint(context, options.target);
  if (!chosen.ok()) return chosen.status();
  const std::string data = options.data.empty() ? chosen->data : options.data;
  if (data.empty()) {
    return absl::InvalidArgumentError(
        "where the data set lies is not known: name its file with --data");
  }
  std::vector<std::string> words = {
      "eval",
      chosen->folder.string(),
      "--replica-seed=" + std::to_string(chosen->seed),
      "--split=" + options.split,
      "--data=" + data,
      "--threads=" + std::to_string(options.threads)};
  if (context.output.json()) words.emplace_back("--json");
  return BecomeProgram(context.output, "leadline-inference", std::move(words));
}

}  // namespace

Command EvalCommand() {
  return {
      "eval", "the loss of a checkpoint on a whole split",
      "  leadline eval s1.3.0                      # validation, the newest\n"
      "  leadline eval s1.3.0 --best --split test\n"
      "  leadline eval model/step-000005000 --data text8 --replica-seed 0\n",
      [](CLI::App& app) -> Action {
        auto options = std::make_shared<Options>();
        AddCheckpointTarget(app, options->target);
        app.add_option("--split", options->split,
                       "train, validation or test (default validation)")
            ->option_text("SPLIT")
            ->check(flags::OneOf({"train", "validation", "test"}));
        app.add_option("--data", options->data,
                       "file of the data set (default: where the trial's "
                       "trainer opened it); its hash is checked")
            ->option_text("FILE");
        app.add_option("--threads", options->threads,
                       "CPU threads; with those of the training the loss is "
                       "the trial's to the last bit (default 1)")
            ->option_text("N")
            ->check(flags::WholeNumber(1, 1024));
        return [options](Context& context) { return Eval(context, *options); };
      }};
}

}  // namespace leadline::cli
