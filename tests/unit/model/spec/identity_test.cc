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
    "GOLDEN",
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
  EXPECT_EQ(CanonicalCell(Cell({{"method", "rezero"}}), Data()), "CANONICAL");
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
                           {"devices", int64_t{2}},
                           {"cohort", int64_t{1}},
                           {"micro_batch", int64_t{8}},
                           {"log_every", int64_t{1}},
                           {"checkpoint_every", int64_t{7}},
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

}  // namespace
}  // namespace leadline::spec
