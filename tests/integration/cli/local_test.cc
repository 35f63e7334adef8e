// Commands that join or start the private coordinator of a state folder. The
// coordinator is the real one, the program beside `leadline`.

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>

#include "program.h"

namespace leadline::cli_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

constexpr char kSweep[] =
    "leadline: 1\n"
    "name: small\n"
    "seeds: 2\n"
    "settings: {d_model: 32, n_heads: 2, context: 64, steps: 10}\n"
    "axes:\n"
    "  depth: [2, 4]\n"
    "  dataset: [grammar16]\n"
    "  method: [prenorm, wav]\n";

class Local : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "local_XXXXXX").string();
    folder_ = mkdtemp(name.data());
    state_ = folder_ / "state";
    sweep_file_ = Write("sweep.yaml", kSweep);
  }
  void TearDown() override {
    EXPECT_TRUE(WaitUntilUnlocked());
    fs::remove_all(folder_);
  }

  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }

  std::unique_ptr<Program> Start(std::vector<std::string> arguments) {
    return std::make_unique<Program>(
        std::move(arguments),
        Program::Variables{{"LEADLINE_STATE", state_.string()},
                           {"LC_ALL", "C.UTF-8"}});
  }
  Ended Run(std::vector<std::string> arguments) {
    return Start(std::move(arguments))->Wait();
  }

  // The lock is free once the coordinator's process has ended.
  bool WaitUntilUnlocked() {
    const int file = open((state_ / "lock").c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return true;
    bool is_free = false;
    for (int i = 0; i < 2000 && !is_free; ++i) {
      is_free = flock(file, LOCK_SH | LOCK_NB) == 0;
      if (!is_free) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    close(file);
    return is_free;
  }

  fs::path folder_;
  fs::path state_;
  std::string sweep_file_;
};

TEST_F(Local, AFolderNeverUsedHasNoSweeps) {
  const Ended ended = Run({"ls"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out, "no sweeps yet\n");
  EXPECT_EQ(fs::status(state_).permissions(), fs::perms::owner_all);
  EXPECT_TRUE(WaitUntilUnlocked());
}

TEST_F(Local, ManyCommandsAtOnceShareOneCoordinator) {
  std::vector<std::unique_ptr<Program>> programs;
  for (int i = 0; i < 4; ++i) programs.push_back(Start({"ls"}));
  for (const auto& program : programs) {
    const Ended ended = program->Wait();
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
  }
}

TEST_F(Local, ACommandWaitsForACoordinatorThatIsEnding) {
  for (int i = 0; i < 4; ++i) {
    const Ended ended = Run({"ls"});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
  }
}

TEST_F(Local, APathLongerThanASocketsIsFine) {
  state_ = folder_ / std::string(100, 'a') / std::string(100, 'b');
  const Ended ended = Run({"ls"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

TEST_F(Local, ASubmittedSweepIsThereForTheNextCommand) {
  const Ended first = Run({"submit", sweep_file_});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("s1 small: new, 4 cells, 8 trials"));
  EXPECT_THAT(first.out, HasSubstr("leadline run " + sweep_file_));
  EXPECT_THAT(Run({"submit", sweep_file_}).out, HasSubstr("there already"));
  const json list = json::parse(Run({"ls", "--json"}).out);
  EXPECT_EQ(list["total"], 1);
  EXPECT_EQ(list["sweeps"][0]["trials"], 8);
  EXPECT_THAT(Run({"cancel", "small"}).out,
              HasSubstr("s1: 8 trials cancelled"));
  EXPECT_EQ(Run({"show", "s2"}).exit_code, 6);
}

TEST_F(Local, ATagThatIsNotThereIsSaidToBeMissing) {
  ASSERT_EQ(Run({"submit", sweep_file_}).exit_code, 0);
  EXPECT_EQ(Run({"tag", "s1", "+paper"}).err, "");
  const Ended missing = Run({"tag", "small", "--remove", "papr"});
  EXPECT_EQ(missing.exit_code, 0);
  EXPECT_EQ(missing.err, "s1 has no tag papr, did you mean paper?\n");
  EXPECT_THAT(missing.out, HasSubstr("(as before)"));
  const json told = json::parse(
      Run({"tag", "s1", "--remove", "paper", "--remove", "other", "--json"})
          .out);
  EXPECT_EQ(told["not_there"], json({"other"}));
  EXPECT_EQ(told["tags"], json::array());
  EXPECT_EQ(Run({"tag", "s9", "--remove", "paper"}).exit_code, 6);
}

TEST_F(Local, ARefusedFileStoresNothing) {
  const Ended ended =
      Run({"submit", Write("bad.yaml", "leadline: 1\nnonsense: 1\n")});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("bad.yaml:2:1: "));
  EXPECT_EQ(Run({"ls"}).out, "no sweeps yet\n");
}

TEST_F(Local, AnotherProgramsDatabaseIsRefusedInTheCoordinatorsWords) {
  fs::create_directories(state_);
  fs::permissions(state_, fs::perms::owner_all);
  std::ofstream(state_ / "leadline.db") << "a text file, and not ours";
  const Ended ended = Run({"ls"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("leadline.db"));
  EXPECT_EQ(fs::file_size(state_ / "leadline.db"), 25U);
}

TEST_F(Local, ABackupIsLookedThroughWhicheverCoordinatorIsNamed) {
  const std::string backup = (folder_ / "backup.db").string();
  ASSERT_EQ(Run({"backup", backup}).exit_code, 0);
  for (const Program::Variables& variables :
       {Program::Variables{{"LEADLINE_COORDINATOR", "127.0.0.1:1"}},
        Program::Variables{}}) {
    const Ended sound = Program({"fsck", backup}, variables).Wait();
    EXPECT_EQ(sound.exit_code, 0) << sound.err;
    EXPECT_THAT(sound.out, HasSubstr("sound"));
    const std::string none = (folder_ / "none.db").string();
    for (const char* command : {"fsck", "restore"}) {
      const Ended missing = Program({command, none}, variables).Wait();
      EXPECT_EQ(missing.exit_code, 6) << missing.err;
      EXPECT_THAT(missing.err, HasSubstr("no database " + none));
    }
  }
}

TEST_F(Local, WhatNeedsAStateFolderSaysHowToNameIt) {
  const std::string backup = (folder_ / "backup.db").string();
  // Its coordinator may still be about to end, for which the others wait.
  ASSERT_EQ(Run({"backup", backup}).exit_code, 0);
  const Program::Variables elsewhere = {
      {"LEADLINE_COORDINATOR", "127.0.0.1:1"}};
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"restore", backup}, {"fsck"}}) {
    const Ended refused = Program(words, elsewhere).Wait();
    EXPECT_EQ(refused.exit_code, 2) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("--state DIR, as LEADLINE_COORDINATOR"));
  }
  Program::Variables both = elsewhere;
  both["LEADLINE_STATE"] = state_.string();
  const Ended restored = Program({"restore", backup}, both).Wait();
  EXPECT_EQ(restored.exit_code, 0) << restored.err;
  EXPECT_THAT(restored.out, HasSubstr((state_ / "leadline.db").string()));
}

TEST_F(Local, AFolderIsNeitherABackupNorAPlaceForOne) {
  const std::string folder = folder_.string();
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"backup", folder}, {"backup", folder, "--force"}}) {
    const Ended refused = Run(words);
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.err, HasSubstr(folder + " is a folder; name a file"));
  }
  EXPECT_THAT(Run({"backup", "/dev/null", "--force"}).err,
              HasSubstr("/dev/null is no file"));
  for (const char* command : {"fsck", "restore"}) {
    const Ended refused = Run({command, folder});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr(folder + " is a folder"));
  }
}

TEST_F(Local, ALogThatCannotBeWrittenIsNoProgramThatIsMissing) {
  fs::create_directories(state_ / "coordinator.err");
  const Ended ended = Run({"ls", "--json"});
  EXPECT_EQ(ended.exit_code, 1);
  const json error = json::parse(ended.err)["error"];
  EXPECT_EQ(error["code"], "state_unusable");
  const std::string message = error["message"];
  EXPECT_THAT(message, HasSubstr((state_ / "coordinator.err").string()));
  EXPECT_THAT(message, HasSubstr("--state"));
}

TEST_F(Local, AStateFolderThatIsAFileIsToldAtOnce) {
  state_ = sweep_file_;
  const Ended ended = Run({"ls"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("cannot use the state folder"));
  state_ = folder_ / "state";
}

}  // namespace
}  // namespace leadline::cli_test
