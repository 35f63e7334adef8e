#include "model/spec/start_point.h"

#include <algorithm>
#include <string_view>

namespace leadline::spec {
namespace {

constexpr std::string_view kKey = "init_from";

/// Settings of model and method that weights in use do not depend on.
constexpr std::string_view kFree[] = {
    "context",        "dropout",       "init",
    "init_std",       "residual_init", "router_init_std",
    "router_lr_mult", "null_lr_mult",  "router_weight_decay",
};

bool MustAgree(const SettingInfo& setting) {
  return (setting.group == SettingGroup::kModel ||
          setting.group == SettingGroup::kMethod) &&
         std::ranges::find(kFree, setting.key) == std::end(kFree);
}

std::string TextOf(const Settings& settings, std::string_view key) {
  const auto found = settings.values().find(key);
  return found == settings.values().end() ? "nothing" : ToText(found->second);
}

void Add(std::vector<SettingError>& errors, const std::string& what) {
  errors.push_back(
      {std::string(kKey), std::string(kKey) + ": the checkpoint " + what});
}

std::string SeedsText(const std::vector<int64_t>& seeds) {
  std::string text;
  for (const int64_t seed : seeds) {
    text += (text.empty() ? "" : ", ") + std::to_string(seed);
  }
  return text;
}

void CheckSettings(const StartPoint& start, const Settings& settings,
                   std::vector<SettingError>& errors) {
  if (start.settings.method() != settings.method()) {
    Add(errors, "is of method " + start.settings.method() + ", this cell of " +
                    settings.method() +
                    "; leadline convert makes a routed one of a prenorm one");
    return;
  }
  for (const SettingInfo& setting : SettingsTable()) {
    if (!MustAgree(setting)) continue;
    const std::string theirs = TextOf(start.settings, setting.key);
    const std::string ours = TextOf(settings, setting.key);
    if (theirs == ours) continue;
    Add(errors, "has " + std::string(setting.key) + " " + theirs +
                    ", this cell " + ours + ": the weights need the same");
  }
}

}  // namespace

std::vector<SettingError> WhyNotFrom(const StartPoint& start,
                                     const Settings& settings,
                                     const Dataset& dataset,
                                     std::span<const int64_t> seeds) {
  std::vector<SettingError> errors;
  CheckSettings(start, settings, errors);
  if (start.tokenizer != dataset.tokenizer) {
    Add(errors, "has the tokenizer " + start.tokenizer + ", the data set " +
                    dataset.name + " has " + dataset.tokenizer);
  } else if (dataset.vocabulary && start.vocabulary != *dataset.vocabulary) {
    Add(errors, "has a vocabulary of " + std::to_string(start.vocabulary) +
                    ", the data set " + dataset.name + " one of " +
                    std::to_string(*dataset.vocabulary));
  }
  if (start.seeds.size() < 2) return errors;  // one starts all
  for (const int64_t seed : seeds) {
    if (std::ranges::find(start.seeds, seed) != start.seeds.end()) continue;
    Add(errors, "has no replica of seed " + std::to_string(seed) +
                    "; it has those of " + SeedsText(start.seeds));
    break;
  }
  return errors;
}

}  // namespace leadline::spec
