#include <CLI/CLI.hpp>
#include <absl/strings/str_replace.h>
#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/table.h"
#include "model/spec/method_table.h"

namespace leadline::cli {
namespace {

Json MethodJson(const spec::MethodInfo& method) {
  Json options = Json::array();
  for (const spec::SettingInfo* option : spec::OptionsOf(method.name)) {
    options.push_back({{"key", std::string(option->key)},
                       {"type", spec::ExpectedText(*option)},
                       {"default", std::string(option->default_text)},
                       {"meaning", std::string(option->meaning)}});
  }
  return {
      {"name", std::string(method.name)},
      {"summary", std::string(method.summary)},
      {"formula", std::string(method.formula)},
      {"reference", std::string(method.reference)},
      {"added_parameters", std::string(method.added_parameters)},
      {"equals_prenorm_at_start", std::string(method.equals_prenorm_at_start)},
      {"caveat", std::string(method.caveat)},
      {"options", options}};
}

std::string Details(const spec::MethodInfo& method, const Style& style) {
  std::string text = fmt::format(
      "{}: {}\n\n  {}\n\n  parameters beside the plain decoder: {}\n  equals "
      "prenorm at the start: {}\n  arXiv {}\n",
      style.Bold(method.name), style.Clean(method.summary),
      absl::StrReplaceAll(std::string(method.formula), {{"\n", "\n  "}}),
      style.Clean(method.added_parameters),
      style.Clean(method.equals_prenorm_at_start), method.reference);
  if (!method.caveat.empty()) {
    text += fmt::format("  {}\n", style.Clean(method.caveat));
  }
  const auto options = spec::OptionsOf(method.name);
  if (options.empty()) return text + "  no options\n";
  Table table{{{"option"}, {"value"}, {"default"}, {"meaning"}}, {}};
  for (const spec::SettingInfo* option : options) {
    table.rows.push_back({std::string(option->key), spec::ExpectedText(*option),
                          std::string(option->default_text),
                          style.Clean(option->meaning)});
  }
  return text + "\n" + Render(table, style);
}

absl::Status PrintOne(Context& context, const std::string& name) {
  const spec::MethodInfo* method = spec::FindMethod(name);
  if (method == nullptr) {
    return At(
        absl::NotFoundError(fmt::format(
            "there is no method '{}'; leadline methods lists them", name)),
        name);
  }
  if (context.output.json()) context.output.PrintJson(MethodJson(*method));
  context.output.Print(Details(*method, context.output.out()));
  return absl::OkStatus();
}

absl::Status PrintAll(Context& context) {
  Json list = Json::array();
  Table table{
      {{"method"}, {"adds parameters"}, {"prenorm at start"}, {"what it does"}},
      {}};
  const Style& style = context.output.out();
  for (const spec::MethodInfo& method : spec::MethodTable()) {
    list.push_back(MethodJson(method));
    table.rows.push_back({std::string(method.name),
                          style.Clean(method.added_parameters),
                          style.Clean(method.equals_prenorm_at_start),
                          style.Clean(method.summary)});
  }
  if (context.output.json()) context.output.PrintJson({{"methods", list}});
  context.output.Print(Render(table, style));
  return absl::OkStatus();
}

}  // namespace

Command MethodsCommand() {
  return {"methods", "the rules for carrying values through depth",
          "  leadline methods\n"
          "  leadline methods wav       # formula, options\n",
          [](CLI::App& app) -> Action {
            auto name = std::make_shared<std::string>();
            app.add_option("name", *name, "one of them, in full")
                ->option_text("NAME");
            return [name](Context& context) {
              return name->empty() ? PrintAll(context)
                                   : PrintOne(context, *name);
            };
          }};
}

}  // namespace leadline::cli
