#include "worker/checkpoint/convert.h"

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/numbers.h"
#include "common/human_number.h"
#include "errors/error_code.h"
#include "model/spec/conversion.h"
#include "worker/checkpoint/bad_checkpoint.h"
#include "worker/checkpoint/checkpoint.h"

namespace leadline::cli {
namespace {

struct Options {
  std::string from;
  std::string method;
  std::vector<std::string> options;
  std::string to;
};

absl::StatusOr<spec::GivenSettings> ReadOptions(
    const std::vector<std::string>& texts) {
  spec::GivenSettings given;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const std::string key = text.substr(0, equals);
    const spec::SettingInfo* setting = spec::FindSetting(key);
    if (equals == std::string::npos || setting == nullptr) {
      return absl::InvalidArgumentError(fmt::format(
          "--option '{}': expected key=value with the key of an option", text));
    }
    auto value = spec::ParseValue(*setting, text.substr(equals + 1));
    if (auto* expected = std::get_if<std::string>(&value)) {
      return absl::InvalidArgumentError(
          fmt::format("--option '{}': expected {}", text, *expected));
    }
    if (!given.try_emplace(key, std::get<spec::Value>(value)).second) {
      return absl::InvalidArgumentError(
          fmt::format("--option '{}': {} is given twice", text, key));
    }
  }
  return given;
}

Json SeedsJson(const checkpoint::Manifest& manifest) {
  return manifest.Seeds();
}

Json MadeJson(const Options& options, const checkpoint::Checkpoint& from,
              const checkpoint::Conversion& made) {
  const checkpoint::Manifest& manifest = made.manifest;
  return {{"checkpoint", options.to},
          {"hash", made.hash},
          {"bytes", made.bytes},
          {"method", manifest.settings.method()},
          {"eps_mode", manifest.settings.Word("eps_mode")},
          {"norm_eps", JsonNumber(manifest.settings.Number("norm_eps"))},
          {"seeds", SeedsJson(manifest)},
          {"origin",
           {{"checkpoint", options.from},
            {"hash", from.hash()},
            {"method", from.manifest().settings.method()},
            {"step", from.manifest().step}}}};
}

std::string MadeText(const Options& options, const checkpoint::Checkpoint& from,
                     const checkpoint::Conversion& made, const Style& style) {
  const spec::Settings& settings = made.manifest.settings;
  std::string text = fmt::format(
      "{}: {} of {} at step {}, now {}; {}, {}\n  hash {}\n",
      style.Bold(style.Clean(options.to)), Counted(from.replicas(), "replica"),
      from.manifest().settings.method(), from.manifest().step,
      settings.method(),
      settings.Word("eps_mode") == "compensated"
          ? "its logits are the same to rounding"
          : "its logits are the same but for norm_eps",
      HumanBytes(made.bytes), made.hash);
  text += fmt::format(
      "To train it further, name it in a sweep file:\n"
      "  settings: {{init_from: {}, eps_mode: {}, norm_eps: {}}}\n",
      style.Clean(options.to), settings.Word("eps_mode"),
      settings.Number("norm_eps"));
  return text;
}

absl::Status Run(Context& context, const Options& options) {
  const auto given = ReadOptions(options.options);
  if (!given.ok()) return given.status();
  const checkpoint::Checkpoint from(options.from);
  const spec::Resolution settings =
      spec::ConvertSettings(from.manifest().settings, options.method, *given);
  if (!settings.errors.empty()) {
    return At(absl::InvalidArgumentError(
                  fmt::format("cannot convert {}: {}", options.from,
                              settings.errors.front().message)),
              options.from);
  }
  const checkpoint::Conversion made =
      checkpoint::Convert(from, settings.settings, options.to);
  if (context.output.json()) {
    context.output.PrintJson(MadeJson(options, from, made));
  }
  context.output.Print(MadeText(options, from, made, context.output.out()));
  return absl::OkStatus();
}

absl::Status Convert(Context& context, const Options& options) {
  try {
    return Run(context, options);
  } catch (const checkpoint::BadCheckpoint& bad) {
    return At(WithError(absl::DataLossError(bad.what()), ErrorCode::kFile),
              options.from);
  } catch (const std::exception& error) {  // the disk says no
    return WithError(absl::UnknownError(error.what()), ErrorCode::kFile);
  }
}

std::string Targets() {
  return fmt::format("{}", fmt::join(spec::ConversionTargets(), ", "));
}

}  // namespace

Command ConvertCommand() {
  return {
      "convert",
      "make a routed checkpoint of a prenorm one, with the same logits",
      "  leadline convert checkpoints/step-000005000 --method block_attnres "
      "\\\n"
      "      --out routed                # queries 0, gains 1, weights as they "
      "are\n"
      "  leadline convert plain --method block_attnres --option blocks=4 "
      "--out routed\n"
      "                                  # leadline show TRIAL says where "
      "checkpoints are\n",
      [](CLI::App& app) -> Action {
        auto options = std::make_shared<Options>();
        app.add_option("checkpoint", options->from,
                       "folder of a checkpoint of method prenorm")
            ->option_text("CHECKPOINT")
            ->required();
        app.add_option("--method", options->method,
                       "one that computes the same while its queries are "
                       "zero: " +
                           Targets())
            ->option_text("NAME")
            ->required();
        app.add_option("--option", options->options,
                       "an option of that method, or eps_mode (compensated "
                       "unless given); may be repeated")
            ->option_text("KEY=VALUE")
            ->allow_extra_args(false);
        app.add_option("--out", options->to,
                       "folder of the new checkpoint, not there yet")
            ->option_text("DIR")
            ->required();
        return
            [options](Context& context) { return Convert(context, *options); };
      }};
}

}  // namespace leadline::cli
