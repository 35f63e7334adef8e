#include "model/spec/reference.h"

#include <array>

#include "model/spec/method_table.h"
#include "model/spec/settings.h"

namespace leadline::spec {
namespace {

constexpr std::string_view kGenerated =
    "<!-- Written from the tables in model/spec; do not edit. "
    "LEADLINE_UPDATE_DOCS=1 build/tests/spec_test writes it anew. -->\n\n";

constexpr std::array kGroups = {
    SettingGroup::kModel, SettingGroup::kMethod, SettingGroup::kTraining,
    SettingGroup::kEvaluation, SettingGroup::kRunning};

std::string Title(SettingGroup group) {
  switch (group) {
    case SettingGroup::kModel:
      return "Model";
    case SettingGroup::kMethod:
      return "Options of methods";
    case SettingGroup::kTraining:
      return "Training";
    case SettingGroup::kEvaluation:
      return "Evaluation";
    case SettingGroup::kRunning:
      return "Running";
  }
  return "";
}

std::string Code(std::string_view text) {
  return "`" + std::string(text) + "`";
}

std::string MethodList(const SettingInfo& setting) {
  std::string text;
  for (const std::string_view method : setting.methods) {
    text += (text.empty() ? "" : ", ") + Code(method);
  }
  return text;
}

void AddRow(std::string& page, const SettingInfo& setting) {
  page += "| " + Code(setting.key) + " | " + ExpectedText(setting) + " | " +
          std::string(setting.default_text) + " | " +
          std::to_string(setting.since) + " | " +
          (setting.identity ? "yes" : "no") + " | ";
  if (!setting.methods.empty()) page += MethodList(setting) + ": ";
  page += std::string(setting.meaning) + " |\n";
}

}  // namespace

std::string SettingsReference() {
  std::string page = "# Settings\n\n" + std::string(kGenerated);
  page +=
      "Every key that `settings`, `axes`, `exclude` and `when` of a sweep file "
      "may name, beside\n`dataset`. *Since* is the version of this table that "
      "brought the key. *Identity* says whether the\nvalue is part of what "
      "makes two cells the same cell; the others are stored with the attempt.\n"
      "`leadline settings` prints the same table.\n";
  for (const SettingGroup group : kGroups) {
    page += "\n## " + Title(group) +
            "\n\n| key | value | default | since | identity | meaning |\n"
            "| --- | --- | --- | --- | --- | --- |\n";
    for (const SettingInfo& setting : SettingsTable()) {
      if (setting.group == group) AddRow(page, setting);
    }
  }
  return page;
}

std::string MethodsReference() {
  std::string page = "# Methods\n\n" + std::string(kGenerated);
  page +=
      "Rules for carrying values through depth. L layers of width D have 2L "
      "sublayers l = 0..2L-1;\ne is the embedding, f_l a sublayer with its "
      "norm, u_l its update, S the length of a block in\nsublayers. "
      "`leadline methods` prints the same.\n";
  for (const MethodInfo& method : MethodTable()) {
    page += "\n## " + Code(method.name) + "\n\n" + std::string(method.summary) +
            "\n\n```\n" + std::string(method.formula) + "\n```\n\n";
    page += "- reference: " + std::string(method.reference) + "\n";
    page +=
        "- added parameters: " + std::string(method.added_parameters) + "\n";
    page += "- equals `prenorm` at the start: " +
            std::string(method.equals_prenorm_at_start) + "\n";
    if (!method.caveat.empty()) {
      page += "- beside its results: " + std::string(method.caveat) + "\n";
    }
    for (const SettingInfo* option : OptionsOf(method.name)) {
      page += "- option " + Code(option->key) + " (" + ExpectedText(*option) +
              "; " + std::string(option->default_text) +
              "): " + std::string(option->meaning) + "\n";
    }
  }
  return page;
}

}  // namespace leadline::spec
