#include <set>

#include <gmock/gmock.h>

#include "model/spec/method_table.h"
#include "model/spec/settings.h"

namespace leadline::spec {
namespace {

TEST(SettingsTable, NamesEachKeyOnceAndSaysWhatItMeans) {
  std::set<std::string_view> keys;
  for (const SettingInfo& setting : SettingsTable()) {
    EXPECT_TRUE(keys.insert(setting.key).second) << setting.key;
    EXPECT_FALSE(setting.meaning.empty()) << setting.key;
    EXPECT_FALSE(setting.default_text.empty()) << setting.key;
    EXPECT_EQ(setting.kind != ValueKind::kInteger &&
                  setting.kind != ValueKind::kNumber,
              setting.least == 0 && setting.most == 0)
        << setting.key;
    EXPECT_EQ(setting.since > 1, setting.neutral.has_value())
        << setting.key << ": a later setting needs its neutral value";
  }
}

TEST(SettingsTable, EveryMethodOptionNamesMethodsThatExist) {
  for (const SettingInfo& setting : SettingsTable()) {
    EXPECT_EQ(setting.group == SettingGroup::kMethod, !setting.methods.empty())
        << setting.key;
    for (const std::string_view method : setting.methods) {
      EXPECT_TRUE(FindMethod(method)) << setting.key << ": " << method;
    }
  }
}

TEST(SettingsTable, EverySettingHasADefaultForEveryMethod) {
  for (const MethodInfo& method : MethodTable()) {
    const Resolution cell = Resolve({{"method", std::string(method.name)}});
    ASSERT_TRUE(cell.errors.empty()) << cell.errors[0].message;
    for (const SettingInfo& setting : SettingsTable()) {
      // Blocks of mhar belong to its other base.
      const bool of_other_base =
          method.name == "mhar" && setting.key == "block_sublayers";
      EXPECT_EQ(cell.settings.Has(setting.key),
                BelongsTo(setting, method.name) && setting.key != "blocks" &&
                    !of_other_base)
          << method.name << ": " << setting.key;
    }
  }
}

TEST(SettingsTable, IdentityLeavesOutOnlyHowAttemptsRun) {
  std::vector<std::string_view> outside;
  for (const SettingInfo& setting : SettingsTable()) {
    if (!setting.identity) outside.push_back(setting.key);
  }
  EXPECT_THAT(outside, testing::UnorderedElementsAre(
                           "devices", "threads", "cohort", "micro_batch",
                           "log_every", "checkpoint_every", "checkpoint_keep",
                           "init_from_path", "diagnostics"));
}

TEST(OptionsOf, ListsTheMethodsOwn) {
  std::vector<std::string_view> keys;
  for (const SettingInfo* option : OptionsOf("layerscale")) {
    keys.push_back(option->key);
  }
  EXPECT_THAT(keys, testing::ElementsAre("init", "router_lr_mult"));
  EXPECT_TRUE(OptionsOf("prenorm").empty());
}

}  // namespace
}  // namespace leadline::spec
