// leadline-inference sample|eval|logits CHECKPOINT: what a trained model says.

#include <cstdio>
#include <iostream>
#include <limits>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "common/build_info.h"
#include "worker/checkpoint/checkpoint.h"
#include "worker/checkpoint/export.h"
#include "worker/inference/loaded_model.h"
#include "worker/inference/sampler.h"
#include "worker/inference/split_loss.h"
#include "worker/inference/symbols.h"
#include "worker/trainer/json_line.h"

namespace leadline::inference {
namespace {

using trainer::JsonLine;
using trainer::JsonNumber;

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kMisuse = 2;

struct Options {
  std::string checkpoint;
  std::optional<int64_t> seed;
  std::string prompt;
  SamplerOptions sampler;
  std::string split = "validation";
  std::string data;
  int threads = 1;
  bool json = false;
};

int64_t SeedOf(const Options& options) {
  if (options.seed) return *options.seed;
  return OnlySeed(checkpoint::Checkpoint(options.checkpoint).manifest());
}

void Put(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void SampleText(const Options& options) {
  const LoadedModel model = LoadReplica(options.checkpoint, SeedOf(options));
  const Symbols symbols(model.manifest);
  SamplerOptions sampler = options.sampler;
  sampler.symbols = symbols.count();
  std::string text;
  if (!options.json) Put(options.prompt);
  Sample(model, symbols.Read(options.prompt), sampler, [&](int64_t symbol) {
    const std::string piece = symbols.Text(symbol);
    if (!options.json) Put(piece);
    text += piece;
  });
  if (!options.json) return Put("\n");
  JsonLine line;
  line.Text("checkpoint", options.checkpoint)
      .Integer("step", model.manifest.step)
      .Integer("replica_seed", model.seeds.front())
      .Text("prompt", options.prompt)
      .Text("text", text)
      .Integer("length", sampler.length)
      .Number("temperature", sampler.temperature)
      .Integer("top_k", sampler.top_k)
      .Integer("seed", sampler.seed);
  Put(line.Finish() + "\n");
}

void Evaluate(const Options& options) {
  // All replicas together, as in training: the last bits depend on it.
  const LoadedModel model = LoadAll(options.checkpoint);
  if (options.seed)
    checkpoint::ReplicaOf(checkpoint::Checkpoint(options.checkpoint),
                          *options.seed);
  const SplitLoss result =
      EvaluateOn(model, options.split, options.data, [] {});
  std::string values;
  std::string text;
  for (size_t r = 0; r < model.seeds.size(); ++r) {
    if (options.seed && *options.seed != model.seeds[r]) continue;
    JsonLine value;
    value.Integer("seed", model.seeds[r]).Number("value", result.loss[r]);
    values += (values.empty() ? "" : ",") + value.Finish();
    text += options.split + " loss " + JsonNumber(result.loss[r]) + " " +
            result.unit + "  (seed " + std::to_string(model.seeds[r]) +
            ", step " + std::to_string(model.manifest.step) + ", " +
            std::to_string(result.scored) + " symbols in " +
            std::to_string(result.windows) + " windows)\n";
  }
  if (!options.json) return Put(text);
  JsonLine line;
  line.Text("checkpoint", options.checkpoint)
      .Integer("step", model.manifest.step)
      .Text("split", options.split)
      .Text("unit", result.unit)
      .Integer("scored", result.scored)
      .Value("values", "[" + values + "]");
  Put(line.Finish() + "\n");
}

// For whoever rebuilds a model elsewhere and wants to know that it is the same.
void Logits(const Options& options) {
  const LoadedModel model = LoadReplica(options.checkpoint, SeedOf(options));
  const torch::NoGradGuard no_grad;
  const std::vector<int64_t> tokens =
      Symbols(model.manifest).Read(options.prompt);
  if (tokens.empty() || static_cast<int64_t>(tokens.size()) >
                            model.manifest.settings.Integer("context")) {
    throw UnreadableText("the text must have 1 to `context` symbols");
  }
  const torch::Tensor logits_TV =
      model.decoder
          .Forward(torch::tensor(tokens).reshape(
              {1, 1, static_cast<int64_t>(tokens.size())}))
          .flatten(0, 2)
          .to(torch::kFloat64)
          .contiguous();
  std::string rows;
  for (int64_t t = 0; t < logits_TV.size(0); ++t) {
    std::string row;
    for (int64_t v = 0; v < logits_TV.size(1); ++v) {
      row += (v == 0 ? "[" : ",") + JsonNumber(logits_TV[t][v].item<double>());
    }
    rows += (t == 0 ? "[" : ",") + row + "]";
  }
  Put(rows + "]\n");
}

void AddCheckpoint(CLI::App& app, Options& options) {
  app.add_option("checkpoint", options.checkpoint, "folder of a checkpoint")
      ->option_text("CHECKPOINT")
      ->required();
  app.add_option("--replica-seed", options.seed,
                 "the replica of that seed, where there are several")
      ->option_text("SEED");
  app.add_option("--threads", options.threads, "CPU threads (default 1)")
      ->check(CLI::Range(1, 1024));
  app.add_flag("--json", options.json, "one JSON document");
}

void AddPrompt(CLI::App& app, Options& options) {
  app.add_option("--prompt", options.prompt, "text to begin with")
      ->option_text("TEXT")
      ->required();
}

CLI::App* DeclareSample(CLI::App& app, Options& options) {
  CLI::App* sample = app.add_subcommand("sample", "go on with a text");
  AddCheckpoint(*sample, options);
  AddPrompt(*sample, options);
  SamplerOptions& sampler = options.sampler;
  sample->add_option("--length", sampler.length, "symbols to write")
      ->check(CLI::Range(int64_t{0}, int64_t{1'000'000}));
  sample
      ->add_option("--temperature", sampler.temperature,
                   "0: always the likeliest")
      ->check(CLI::Range(0.0, 100.0));
  sample->add_option("--top-k", sampler.top_k, "of the likeliest K alone")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 20));
  sample->add_option("--seed", sampler.seed, "of the draws")
      ->check(CLI::Range(int64_t{0}, std::numeric_limits<int64_t>::max()));
  return sample;
}

CLI::App* DeclareEval(CLI::App& app, Options& options) {
  CLI::App* eval = app.add_subcommand("eval", "the loss on a whole split");
  AddCheckpoint(*eval, options);
  eval->add_option("--split", options.split, "train, validation or test")
      ->check(CLI::IsMember({"train", "validation", "test"}));
  eval->add_option("--data", options.data, "file of the data set")
      ->option_text("FILE")
      ->required();
  return eval;
}

int Fail(const Options& options, const std::string& message) {
  if (options.json) {
    JsonLine inner;
    inner.Text("code", "file")
        .Text("message", message)
        .Text("where", options.checkpoint)
        .Integer("exit_code", kFailed);
    JsonLine line;
    line.Value("error", inner.Finish());
    std::cerr << line.Finish() << '\n';
  } else {
    std::cerr << "leadline: " << message << '\n';
  }
  return kFailed;
}

int Run(int argc, char** argv) {
  Options options;
  CLI::App app{"What a trained model says."};
  app.set_version_flag("--version", std::string("leadline-inference ") +
                                        std::string(BuildVersion()) + " (" +
                                        std::string(BuildCommit()) + ")");
  app.require_subcommand(1);
  const CLI::App* sample = DeclareSample(app, options);
  const CLI::App* eval = DeclareEval(app, options);
  CLI::App* logits =
      app.add_subcommand("logits", "of every position of a text, as JSON");
  AddCheckpoint(*logits, options);
  AddPrompt(*logits, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kMisuse;
  }
  at::set_num_threads(options.threads);
  at::set_num_interop_threads(1);
  try {
    if (sample->parsed()) SampleText(options);
    if (eval->parsed()) Evaluate(options);
    if (logits->parsed()) Logits(options);
    return kDone;
  } catch (const c10::Error& error) {
    return Fail(options, error.what_without_backtrace());
  } catch (const std::exception& error) {
    return Fail(options, error.what());
  }
}

}  // namespace
}  // namespace leadline::inference

int main(int argc, char** argv) { return leadline::inference::Run(argc, argv); }
