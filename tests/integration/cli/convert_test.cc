// leadline convert, from the command line to the folder.

#include <gmock/gmock.h>

#include "commands_fixture.h"
#include "tests/unit/worker/checkpoint/small_checkpoint.h"

namespace leadline::cli_test {
namespace {

using testing::HasSubstr;

class Convert : public Commands {
 protected:
  void SetUp() override {
    Commands::SetUp();
    hash_ = checkpoint::WriteSmall(folder_ / "plain", {3, 4});
  }

  std::vector<std::string> Arguments(const std::string& method) const {
    return {"convert", (folder_ / "plain").string(), "--method", method,
            "--out",   (folder_ / "routed").string()};
  }

  std::string hash_;
};

TEST_F(Convert, WritesACheckpointAndSaysHowToGoOn) {
  const Ended ended = Run(Arguments("block_attnres"));
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("prenorm at step 7, now block_attnres"));
  EXPECT_THAT(ended.out, HasSubstr("init_from: "));
  const checkpoint::Checkpoint made(folder_ / "routed");
  made.Verify();
  EXPECT_EQ(made.manifest().origin->hash, hash_);
}

TEST_F(Convert, JsonNamesBothHashes) {
  auto arguments = Arguments("block_attnres");
  arguments.insert(arguments.end(), {"--option", "block_sublayers=3",
                                     "--option", "eps_mode=fixed"});
  const nlohmann::json made = RunJson(arguments);
  EXPECT_EQ(made["origin"]["hash"], hash_);
  EXPECT_EQ(made["hash"], checkpoint::Checkpoint(folder_ / "routed").hash());
  EXPECT_EQ(made["eps_mode"], "fixed");
  EXPECT_EQ(made["seeds"], nlohmann::json({3, 4}));
}

TEST_F(Convert, WhatCannotBeIsRefusedWithTheReason) {
  EXPECT_THAT(RunJsonError(Arguments("wav"), 2)["message"],
              HasSubstr("would not keep the logits"));
  auto arguments = Arguments("block_attnres");
  arguments.insert(arguments.end(), {"--option", "rho=2"});
  EXPECT_THAT(RunJsonError(arguments, 2)["message"],
              HasSubstr("rho is no option of block_attnres"));
  arguments.back() = "depth";
  EXPECT_THAT(RunJsonError(arguments, 2)["message"],
              HasSubstr("expected key=value"));
  arguments.back() = "block_sublayers=0";
  EXPECT_THAT(RunJsonError(arguments, 2)["message"],
              HasSubstr("an integer from 1"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "routed"));
}

TEST_F(Convert, RoutedCheckpointIsNotConvertedAgain) {
  ASSERT_EQ(Run(Arguments("block_attnres")).exit_code, 0);
  EXPECT_THAT(
      RunJsonError({"convert", (folder_ / "routed").string(), "--method",
                    "block_attnres", "--out", (folder_ / "again").string()},
                   2)["message"],
      HasSubstr("it is of method block_attnres"));
  // Nor is anything written over.
  EXPECT_THAT(RunJsonError(Arguments("block_attnres"), 1)["message"],
              HasSubstr("File exists"));
}

TEST_F(Convert, DamagedCheckpointIsNamed) {
  const auto file = folder_ / "plain" / "parameters.safetensors";
  std::string bytes = checkpoint::Contents(file);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  checkpoint::Overwrite(file, bytes);
  EXPECT_THAT(RunJsonError(Arguments("block_attnres"), 1)["message"],
              HasSubstr("parameters.safetensors is damaged"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "routed"));
  EXPECT_THAT(RunJsonError({"convert", (folder_ / "none").string(), "--method",
                            "block_attnres", "--out", "x"},
                           1)["message"],
              HasSubstr("No such file"));
}

}  // namespace
}  // namespace leadline::cli_test
