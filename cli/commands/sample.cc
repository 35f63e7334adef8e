#include <limits>

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
  std::string prompt;
  int64_t length = 200;
  double temperature = 1;
  int64_t top_k = 0;
  int64_t seed = 0;
};

absl::Status Sample(Context& context, const Options& options) {
  if (options.prompt.empty()) {
    return absl::InvalidArgumentError(
        "--prompt is empty: the model goes on with a text");
  }
  const auto chosen = ChooseCheckpoint(context, options.target);
  if (!chosen.ok()) return chosen.status();
  std::vector<std::string> words = {
      "sample",
      chosen->folder.string(),
      "--replica-seed=" + std::to_string(chosen->seed),
      "--prompt=" + options.prompt,
      "--length=" + std::to_string(options.length),
      fmt::format("--temperature={}", options.temperature),
      "--top-k=" + std::to_string(options.top_k),
      "--seed=" + std::to_string(options.seed)};
  if (context.output.json()) words.emplace_back("--json");
  return BecomeProgram(context.output, "leadline-inference", std::move(words));
}

}  // namespace

Command SampleCommand() {
  return {
      "sample", "text that a trained model goes on with",
      "  leadline sample s1.3.0 --prompt 'the '          # 200 symbols\n"
      "  leadline sample s1.3.0 --prompt 'the ' --temperature 0.8 --top-k 10 "
      "--seed 7\n"
      "  leadline sample model/step-000005000 --prompt 'the ' --length 1000\n",
      [](CLI::App& app) -> Action {
        auto options = std::make_shared<Options>();
        AddCheckpointTarget(app, options->target);
        app.add_option("--prompt", options->prompt,
                       "text to begin with, of characters that the model was "
                       "trained on")
            ->option_text("TEXT")
            ->required();
        app.add_option("--length", options->length,
                       "characters to write (default 200)")
            ->option_text("N")
            ->check(flags::WholeNumber(0, 1'000'000));
        app.add_option("--temperature", options->temperature,
                       "below 1 likelier, above 1 freer, 0 always the "
                       "likeliest (default 1)")
            ->option_text("X")
            ->check(flags::Number(0.0, 100.0));
        app.add_option("--top-k", options->top_k,
                       "draw from the K likeliest alone (default: from all)")
            ->option_text("K")
            ->check(flags::WholeNumber(0, int64_t{1} << 20));
        app.add_option("--seed", options->seed,
                       "of the draws: the same seed, the same text "
                       "(default 0)")
            ->option_text("N")
            ->check(flags::WholeNumber(0, std::numeric_limits<int64_t>::max()));
        return
            [options](Context& context) { return Sample(context, *options); };
      }};
}

}  // namespace leadline::cli
