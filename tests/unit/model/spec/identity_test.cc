#include "model/spec/identity.h"

#include <array>

#include <gtest/gtest.h>

namespace leadline::spec {
namespace {

const std::string kHash(64, 'a');

Dataset Data() { return {.name = "text8", .path = "", .content_hash = kHash}; }

Settings Cell(GivenSettings given) {
  const Resolution cell = Resolve(given);
  for (const SettingError& error : cell.errors) {
    ADD_FAILURE() << error.key << ": " << error.message;
  }
  return cell.settings;
}

/// Twenty cells: each method at two depths, and one change of each kind.
std::vector<GivenSettings> GoldenCells() {
  std::vector<GivenSettings> cells;
  for (const char* method :
       {"prenorm", "rezero", "layerscale", "block_attnres", "wav"}) {
    cells.push_back({{"method", method}});
    cells.push_back({{"method", method}, {"depth", int64_t{48}}});
  }
  cells.push_back({{"method", "prenorm"}, {"lr", 2e-3}});
  cells.push_back({{"method", "prenorm"}, {"precision", "bf16"}});
  cells.push_back({{"method", "prenorm"}, {"data_seed", INT64_MAX}});
  cells.push_back({{"method", "prenorm"}, {"clip", "off"}});
  cells.push_back({{"method", "prenorm"}, {"d_model", int64_t{512}}});
  cells.push_back({{"method", "rezero"}, {"per", "layer"}});
  cells.push_back({{"method", "layerscale"}, {"init", 1.0}});
  cells.push_back({{"method", "block_attnres"}, {"blocks", int64_t{4}}});
  cells.push_back({{"method", "wav"}, {"rho", 2.0}});
  cells.push_back({{"method", "wav"}, {"detail_bias", "-inf"}});
  return cells;
}

// These never change: results of earlier versions are found by them.
constexpr std::array kGoldenHashes = {
    "b49b24152dcab53676c5b9310d02668ea19361c15fd448c10db6a6b789bb920f",
    "ff6d0fe22003b159aee12c0e520a2c8e8f112dec6b258ea6f8d4145f04c1b778",
    "77d11691a4eff0b0f42c11159ed34f16d97f59943366bc35a7c0ab3f65cc405a",
    "1a87dc806df478f81190920044221d1c65a52a56c7efce92896c387e009e88f0",
    "832b623c2f318e0b7f1ae467d90755992a13e41738e08421e970306b4ecb692d",
    "be054df43071bb88757f51502fcb570b41eaf36b4ed104f784e6aca7eb329ea4",
    "6b4905586ed98a718d09d645056b90d8930825c47bf7fe06eee7c9e909fb5eae",
    "32212ac718d714bd8aa48f0c1758d0707d281e2d6ced6d10bcacb8e4a8445a00",
    "e8c8581cf9a228aaf7a22226f57aa29ac11f3c3cc42c8d56ff9ed93d43b799e2",
    "23a67ed2204b9bacae6cbfadb913a3563e301aa9c6544f46c6bd163c7bf5bf19",
    "bc5666155d4639246f789654e8e122febb94050bc425190a98ab0d3411dcb1a8",
    "e78726ef30ecc6b87a708686c0e66eb1d2eb3ef95e3430f0c943fcccb1b987cb",
    "496dbb6d2edb4ffc4d1f9f703110e016e52bc7ae7a343b7265743400a397e46f",
    "a56f96f57b0a3b0997f841c92214996e3ec0a449b97c48f6e439a54f320ae31f",
    "42e3a4757d08c9e1f9f7e907ecb8bc8b89fdff85cc5c84f0af61fc14ded1f510",
    "d463db034ecc50b7cab9632421d1af2eb9547d456b35741304a7727d2a3789d5",
    "2f88627ba9cb198094916e5af9e30db328b9ed16d25de5067b2c0cfed16a65f5",
    "fc057414bd38f91b2e1e8d316b888aeb3bd3245e785d3303eac19549ebf262c0",
    "7f66436943a83032ae2acf92ac90c1779a4f81c78bd1a169714b53c900a33642",
    "78ec758befccf492806d6299be421d927b8acc9414894675e554d27be27a238e",
};

TEST(CellHash, NeverChanges) {
  const std::vector<GivenSettings> cells = GoldenCells();
  ASSERT_EQ(cells.size(), 20u);
  ASSERT_EQ(kGoldenHashes.size(), cells.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    EXPECT_EQ(CellHash(Cell(cells[i]), Data()), kGoldenHashes[i]) << i;
  }
}

TEST(CanonicalCell, IsSortedTypedAndComplete) {
  EXPECT_EQ(
      CanonicalCell(Cell({{"method", "rezero"}}), Data()),
      R"({"dataset":{"content_hash":")" + kHash +
          R"(","split":[0.9,0.05,0.05],"tokenizer":"char"},"settings":{"adam_eps":1e-08,"batch_sequences":64,"beta1":0.9,"beta2":0.95,)"
          R"("clip":1.0,"context":256,"d_ff":1024,)"
          R"("d_model":256,"data_seed":"seed","decay_all":"off",)"
          R"("depth":12,"divergence_loss":"off","dropout":0.0,)"
          R"("eps_mode":"fixed","eval_every":250,"eval_stride":256,)"
          R"("eval_windows":512,"init_std":0.02,"lr":0.001,)"
          R"("lr_min":1e-04,"method":"rezero","n_heads":4,)"
          R"("n_kv_heads":4,"norm":"on",)"
          R"("norm_eps":1e-12,"per":"sublayer","precision":"fp32",)"
          R"("qk_norm":"off","residual_init":"scaled","rope_theta":10000.0,)"
          R"("router_lr_mult":1.0,"steps":5000,)"
          R"("tied_head":"on","warmup":0.02,"weight_decay":0.1}})");
}

TEST(CellHash, KnowsContentAndNotPlaces) {
  const Settings cell = Cell({{"method", "prenorm"}});
  Dataset elsewhere = Data();
  elsewhere.name = "copy";
  elsewhere.path = "/tmp/copy.txt";
  elsewhere.vocabulary = 27;
  EXPECT_EQ(CellHash(cell, elsewhere), CellHash(cell, Data()));
  Dataset other = Data();
  other.content_hash[0] = 'b';
  EXPECT_NE(CellHash(cell, other), CellHash(cell, Data()));
  other = Data();
  other.split = {0.8, 0.1, 0.1};
  EXPECT_NE(CellHash(cell, other), CellHash(cell, Data()));
  other = Data();
  other.tokenizer = "byte";
  EXPECT_NE(CellHash(cell, other), CellHash(cell, Data()));
}

TEST(CellHash, DoesNotDependOnHowAttemptsRun) {
  const std::string hash = CellHash(Cell({{"method", "wav"}}), Data());
  EXPECT_EQ(CellHash(Cell({{"method", "wav"},
                           {"threads", int64_t{4}},
                           {"cohort", int64_t{1}},
                           {"micro_batch", int64_t{8}},
                           {"log_every", int64_t{1}},
                           {"diagnostics", "off"}}),
                     Data()),
            hash);
}

TEST(CellHash, EqualsForADefaultGivenByHand) {
  EXPECT_EQ(
      CellHash(Cell({{"method", "wav"},
                     {"depth", int64_t{24}},
                     {"lr", 8e-4},
                     {"blocks", int64_t{6}},
                     {"rho", 4.0}}),
               Data()),
      CellHash(Cell({{"method", "wav"}, {"depth", int64_t{24}}}), Data()));
}

TEST(CellHash, TellsApartWhatOnlyLooksAlike) {
  const auto hash = [](double dropout) {
    return CellHash(Cell({{"method", "prenorm"}, {"dropout", dropout}}),
                    Data());
  };
  EXPECT_NE(hash(0.1), hash(0.1 + 1e-17 + 2e-17)) << "the last bit counts";
  EXPECT_EQ(hash(0.1), hash(1e-1));
}

TEST(CellHash, OfAnEarlierVersionMeansNormalisedKeys) {
  const auto hash = [](const char* method, GivenSettings more) {
    more["method"] = method;
    return CellHash(Cell(std::move(more)), Data());
  };
  for (const char* method : {"block_attnres", "wav"}) {
    EXPECT_EQ(hash(method, {{"key_norm", "on"}}), hash(method, {}));
    EXPECT_NE(hash(method, {{"key_norm", "off"}}), hash(method, {}));
  }
}

TEST(IsInIdentity, LeavesOutALaterSettingAtItsNeutralValue) {
  const SettingInfo later{.key = "later",
                          .kind = ValueKind::kWord,
                          .words = {"on", "off"},
                          .default_text = "on",
                          .since = 2,
                          .neutral = Value("off")};
  EXPECT_FALSE(IsInIdentity(later, "off"));
  EXPECT_TRUE(IsInIdentity(later, "on")) << "neutral, not default, decides";
  const SettingInfo first{.key = "first", .since = 1};
  EXPECT_TRUE(IsInIdentity(first, int64_t{0}));
  const SettingInfo running{.key = "running", .identity = false};
  EXPECT_FALSE(IsInIdentity(running, int64_t{0}));
}

TEST(ReadSettingsJson, ReadsBackEveryValueBitForBit) {
  const Settings odd({{"a", -0.0},
                      {"b", 4.0},
                      {"c", int64_t{4}},
                      {"d", int64_t{9007199254740993}},
                      {"e", 1e-45},
                      {"f", 5e-324},
                      {"g", "a \"quoted\" \\ \n größe"},
                      {"h", INT64_MIN}});
  const auto back = ReadSettingsJson(SettingsJson(odd));
  ASSERT_TRUE(std::holds_alternative<Settings>(back));
  EXPECT_EQ(SettingsJson(std::get<Settings>(back)), SettingsJson(odd));
  EXPECT_EQ(std::get<Settings>(back), odd);
  EXPECT_EQ(std::get<Settings>(ReadSettingsJson("{}")), Settings());
}

TEST(ReadSettingsJson, KeepsTheHash) {
  for (const GivenSettings& given : GoldenCells()) {
    const Settings cell = Cell(given);
    const auto back = ReadSettingsJson(SettingsJson(cell));
    ASSERT_TRUE(std::holds_alternative<Settings>(back));
    EXPECT_EQ(CellHash(std::get<Settings>(back), Data()),
              CellHash(cell, Data()));
  }
}

TEST(ReadSettingsJson, RefusesEverythingElse) {
  for (const char* text : {"",
                           "{",
                           "[]",
                           "{\"a\":1",
                           "{\"a\":1,}",
                           "{\"a\":1}x",
                           "{\"a\":01}",
                           "{\"a\":1,\"a\":2}",
                           "{\"a\":null}",
                           "{\"a\":true}",
                           "{\"a\":{}}",
                           "{\"a\":9223372036854775808}",
                           "{\"a\":1e400}",
                           "{\"a\":nan}",
                           "{\"a\":\"\\q\"}",
                           "{\"a\":\"\\u00zz\"}",
                           "{\"a\":\"x}",
                           "{a:1}",
                           "{\"a\" :1}",
                           "{\"a\":}",
                           "{\"a\":-}"}) {
    EXPECT_TRUE(std::holds_alternative<std::string>(ReadSettingsJson(text)))
        << text;
  }
}

TEST(TrainerConfigJson, KeepsItsFieldsInOrder) {
  TrainerConfig config;
  config.settings = Settings({{"depth", int64_t{2}}, {"lr", 1e-3}});
  config.seeds = {0, INT64_MAX};
  config.dataset = Data();
  config.dataset.path = "/data/a \"b\".txt";
  EXPECT_EQ(
      TrainerConfigJson(config),
      "{\"version\":1,\"settings\":{\"depth\":2,\"lr\":0.001},"
      "\"seeds\":[0,9223372036854775807],"
      "\"dataset\":{\"path\":\"/data/a \\\"b\\\".txt\",\"content_hash\":\"" +
          kHash +
          "\",\"tokenizer\":\"char\",\"split\":[0.9,0.05,0.05]},"
          "\"device\":\"cpu\",\"world\":{\"size\":1,\"rank\":0,"
          "\"peers\":[]},\"folder\":null,\"resume\":null}");
}

TEST(TrainerConfigJson, OnlySeveralRanksHaveAHostAndASecret) {
  TrainerConfig config;
  config.listen = "10.0.0.1";
  config.secret = std::string(32, 'a');
  config.timeout_s = 7;
  const auto ends_with = [&](const std::string& world) {
    return TrainerConfigJson(config).ends_with(
        "\"world\":{" + world + "},\"folder\":null,\"resume\":null}");
  };
  EXPECT_TRUE(ends_with("\"size\":1,\"rank\":0,\"peers\":[]"));
  config.world_size = 2;
  config.rank = 1;
  config.peers = {"a:1", "[::1]:2"};
  config.overlap = false;
  EXPECT_TRUE(
      ends_with("\"size\":2,\"rank\":1,\"peers\":[\"a:1\",\"[::1]:2\"],"
                "\"listen\":\"10.0.0.1\",\"secret\":\"" +
                std::string(32, 'a') + "\",\"timeout_s\":7,\"overlap\":false"));
}

}  // namespace
}  // namespace leadline::spec
