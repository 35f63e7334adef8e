#include "worker/trainer/trainer_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leadline::trainer {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

spec::TrainerConfig Example() {
  spec::TrainerConfig config;
  config.settings = spec::Resolve({{"method", spec::Value("wav")},
                                   {"depth", spec::Value(int64_t{4})},
                                   {"d_model", spec::Value(int64_t{32})},
                                   {"n_heads", spec::Value(int64_t{2})},
                                   {"rho", spec::Value(2.5)}})
                        .settings;
  config.seeds = {0, 9223372036854775807};
  config.dataset.path = "/data/text \"one\".txt";
  config.dataset.content_hash = std::string(64, 'a');
  return config;
}

std::string Replaced(std::string text, const std::string& what,
                     const std::string& by) {
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

void ExpectRefused(const std::string& text, const std::string& words) {
  EXPECT_THAT([&] { ParseTrainerConfig(text); },
              ThrowsMessage<ConfigError>(HasSubstr(words)))
      << text;
}

TEST(TrainerConfig, ReadsBackWhatIsWritten) {
  const spec::TrainerConfig config = Example();
  const spec::TrainerConfig read =
      ParseTrainerConfig(spec::TrainerConfigJson(config));
  EXPECT_EQ(read.settings, config.settings);
  EXPECT_EQ(read.seeds, config.seeds);
  EXPECT_EQ(read.dataset.path, config.dataset.path);
  EXPECT_EQ(read.dataset.split, config.dataset.split);
  EXPECT_EQ(read.folder, std::nullopt);
  EXPECT_EQ(spec::TrainerConfigJson(read), spec::TrainerConfigJson(config));
}

TEST(TrainerConfig, UnknownDoubledAndMissingKeysAreRefused) {
  const std::string good = spec::TrainerConfigJson(Example());
  ExpectRefused(Replaced(good, "\"version\":1", "\"version\":1,\"extra\":2"),
                "no key \"extra\"");
  ExpectRefused(Replaced(good, "\"version\":1", "\"version\":1,\"version\":1"),
                "twice");
  ExpectRefused(Replaced(good, "\"version\":1,", ""), "lacks the key");
  ExpectRefused(Replaced(good, "\"depth\":4", "\"depth\":4,\"layers\":4"),
                "no setting \"layers\"");
  ExpectRefused(Replaced(good, "\"depth\":4", "\"depth\":4,\"depth\":5"),
                "twice");
  ExpectRefused(Replaced(good, "\"depth\":4", "\"depth\":4,\"init\":0.5"),
                "no option of wav");
}

TEST(TrainerConfig, ValuesOfWrongTypeOrRangeAreRefused) {
  const std::string good = spec::TrainerConfigJson(Example());
  for (const char* depth :
       {"\"4\"", "4.5", "0", "257", "-1", "null", "true", "[4]", "{}",
        "99999999999999999999", "1e400", "1e-400"}) {
    ExpectRefused(
        Replaced(good, "\"depth\":4", "\"depth\":" + std::string(depth)), "");
  }
  ExpectRefused(Replaced(good, "\"rho\":2.5", "\"rho\":1e-400"), "rho");
  ExpectRefused(Replaced(good, "\"version\":1", "\"version\":2"), "version");
  ExpectRefused(Replaced(good, "\"cpu\"", "\"gpu\""), "device");
  ExpectRefused(Replaced(good, "\"cpu\"", "\"cuda:x\""), "device");
  ExpectRefused(Replaced(good, "\"char\"", "\"word\""), "tokenizer");
  ExpectRefused(Replaced(good, std::string(64, 'a'), "aa"), "content_hash");
  ExpectRefused(Replaced(good, "[0.9,", "[1.9,"), "split");
}

TEST(TrainerConfig, SeedsThatCannotBeAreRefused) {
  const std::string good = spec::TrainerConfigJson(Example());
  for (const char* seeds : {"[]", "[-1]", "[1,1]", "[1.0]",
                            "[9223372036854775808]", "[\"1\"]", "1"}) {
    ExpectRefused(Replaced(good, "[0,9223372036854775807]", seeds), "seeds");
  }
}

TEST(TrainerConfig, SettingsThatCannotStandTogetherAreRefused) {
  const std::string good = spec::TrainerConfigJson(Example());
  ExpectRefused(Replaced(good, "\"n_heads\":2", "\"n_heads\":3"), "n_heads");
}

spec::TrainerConfig OfTwoRanks() {
  spec::TrainerConfig config = Example();
  config.world_size = 2;
  config.rank = 1;
  config.listen = "127.0.0.1";
  config.secret = std::string(32, 'b');
  config.folder = "/tmp/x";
  return config;
}

TEST(TrainerConfig, SeveralRanksAreReadBack) {
  spec::TrainerConfig config = OfTwoRanks();
  config.peers = {"10.0.0.1:1", "10.0.0.2:2"};
  config.timeout_s = 5;
  config.setup_timeout_s = 6;
  config.overlap = false;
  const std::string text = spec::TrainerConfigJson(config);
  EXPECT_EQ(spec::TrainerConfigJson(ParseTrainerConfig(text)), text);
}

TEST(TrainerConfig, WorldsThatCannotBeAreRefused) {
  const std::string good = spec::TrainerConfigJson(OfTwoRanks());
  const std::string secret = std::string(32, 'b');
  EXPECT_NO_THROW(ParseTrainerConfig(good));
  ExpectRefused(Replaced(good, "\"rank\":1", "\"rank\":2"), "world.rank");
  ExpectRefused(Replaced(good, "[],\"listen", "[\"a:1\"],\"listen"),
                "each of 2 ranks");
  ExpectRefused(Replaced(good, "\"127.0.0.1\"", "\"\""), "host to listen on");
  ExpectRefused(Replaced(good, ",\"secret\":\"" + secret + "\"", ""),
                "lacks the key \"secret\"");
  ExpectRefused(Replaced(good, secret, "ABC"), "world.secret");
  ExpectRefused(Replaced(good, "\"/tmp/x\"", "null"), "no folder");
  ExpectRefused(
      Replaced(good, "\"size\":2,\"rank\":1", "\"size\":1,\"rank\":0"),
      "for several ranks");
  ExpectRefused(Replaced(good, "\"listen\"", "\"timeout_s\":0,\"listen\""),
                "world.timeout_s");
  ExpectRefused(Replaced(good, "\"listen\"", "\"overlap\":1,\"listen\""),
                "world.overlap");
}

TEST(TrainerConfig, HostileTextsAreRefused) {
  ExpectRefused("", "not JSON");
  ExpectRefused("{", "not JSON");
  ExpectRefused("[]", "expected an object");
  ExpectRefused("{\"version\":1}{}", "not JSON");
  ExpectRefused(std::string(200'000, '['), "nested too deeply");
  ExpectRefused(std::string((size_t{1} << 20U) + 1, ' '),
                "longer than 1048576 bytes");
  ExpectRefused("{\"a\":\"\xff\"}", "not JSON");
}

}  // namespace
}  // namespace leadline::trainer
