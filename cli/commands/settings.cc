#include "model/spec/settings.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/table.h"

namespace leadline::cli {
namespace {

std::string Joined(const std::vector<std::string_view>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

Json SettingJson(const spec::SettingInfo& setting) {
  Json methods = Json::array();
  for (const auto method : setting.methods) {
    methods.push_back(std::string(method));
  }
  return {{"key", std::string(setting.key)},
          {"group", std::string(spec::Name(setting.group))},
          {"type", spec::ExpectedText(setting)},
          {"default", std::string(setting.default_text)},
          {"since", setting.since},
          {"identity", setting.identity},
          {"methods", methods},
          {"meaning", std::string(setting.meaning)}};
}

std::string Details(const spec::SettingInfo& setting, const Style& style) {
  return fmt::format(
      "{}: {}\n  group    {}\n  value    {}\n  default  {}\n  since    "
      "settings version {}\n  identity {}\n{}",
      style.Bold(setting.key), style.Clean(setting.meaning),
      spec::Name(setting.group), spec::ExpectedText(setting),
      setting.default_text, setting.since,
      setting.identity ? "part of what a cell is"
                       : "no: how it runs, stored with the attempt",
      setting.methods.empty()
          ? ""
          : fmt::format("  methods  {}\n", Joined(setting.methods)));
}

std::string SettingsText(const Style& style) {
  Table table{
      {{"key"}, {"group"}, {"value"}, {"default"}, {"identity"}, {"meaning"}},
      {}};
  for (const spec::SettingInfo& setting : spec::SettingsTable()) {
    table.rows.push_back(
        {std::string(setting.key), std::string(spec::Name(setting.group)),
         spec::ExpectedText(setting), std::string(setting.default_text),
         setting.identity ? "yes" : "no", style.Clean(setting.meaning)});
  }
  return Render(table, style);
}

absl::Status PrintOne(Context& context, const std::string& key) {
  const spec::SettingInfo* setting = spec::FindSetting(key);
  if (setting == nullptr) {
    return At(
        absl::NotFoundError(fmt::format(
            "there is no setting '{}'; leadline settings lists them", key)),
        key);
  }
  if (context.output.json()) context.output.PrintJson(SettingJson(*setting));
  context.output.Print(Details(*setting, context.output.out()));
  return absl::OkStatus();
}

absl::Status PrintAll(Context& context) {
  Json list = Json::array();
  for (const spec::SettingInfo& setting : spec::SettingsTable()) {
    list.push_back(SettingJson(setting));
  }
  if (context.output.json()) context.output.PrintJson({{"settings", list}});
  context.output.Print(SettingsText(context.output.out()));
  return absl::OkStatus();
}

}  // namespace

Command SettingsCommand() {
  return {
      "settings", "what a sweep file may set",
      "  leadline settings\n"
      "  leadline settings cohort\n",
      [](CLI::App& app) -> Action {
        auto key = std::make_shared<std::string>();
        app.add_option("key", *key, "one of them, in full")->option_text("KEY");
        return [key](Context& context) {
          return key->empty() ? PrintAll(context) : PrintOne(context, *key);
        };
      }};
}

}  // namespace leadline::cli
