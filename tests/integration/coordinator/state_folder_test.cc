#include "coordinator/state_folder.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/config.h"
#include "coordinator/rpc/data_inspector.h"
#include "coordinator_world.h"
#include "errors/error_code.h"

namespace leadline {
namespace {

using testing::HasSubstr;

TEST(StateFolderTest, IsPrivateAndItsSecondOwnerLearnsOfTheFirst) {
  TemporaryFolder folder;
  const auto path = folder.path() / "new" / "state";
  {
    const auto first = StateFolder::Open(path);
    ASSERT_TRUE(first.ok()) << first.status();
    struct stat about {};
    stat(path.c_str(), &about);
    EXPECT_EQ(about.st_mode & 0777, 0700u);
    const auto second = StateFolder::Open(path);
    EXPECT_THAT(std::string(second.status().message()),
                HasSubstr("process " + std::to_string(getpid())));
  }
  EXPECT_TRUE(StateFolder::Open(path).ok());
}

TEST(StateFolderTest, FolderOfAnotherKeepsItsModeAndItsFiles) {
  TemporaryFolder folder;
  const auto path = folder.path() / "home";
  std::filesystem::create_directory(path);
  std::ofstream(path / "letter.txt") << "dear";
  ASSERT_EQ(chmod(path.c_str(), 0755), 0);
  const auto state = StateFolder::Open(path);
  EXPECT_THAT(std::string(state.status().message()),
              HasSubstr("files that are not ours"));
  struct stat about {};
  stat(path.c_str(), &about);
  EXPECT_EQ(about.st_mode & 0777, 0755u);
  EXPECT_FALSE(std::filesystem::exists(path / "lock"));

  // Nobody else's: it becomes private.
  std::filesystem::remove(path / "letter.txt");
  EXPECT_TRUE(StateFolder::Open(path).ok());
  stat(path.c_str(), &about);
  EXPECT_EQ(about.st_mode & 0777, 0700u);
}

TEST(StateFolderTest, OfAnotherUserGetsNoFilesOfRoot) {
  TemporaryFolder folder;
  // Whoever is not root owns a folder that is not root's.
  if (geteuid() == 0) {
    ASSERT_EQ(chown(folder.path().c_str(), 54321, 54321), 0);
  }
  const auto state =
      StateFolder::Open(folder.path(), false, ReadFileSystemType, /*user=*/0);
  EXPECT_THAT(std::string(state.status().message()), HasSubstr("sudo -u "));
  EXPECT_EQ(ErrorOf(state.status()), ErrorCode::kStateUnusable);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(StateFolderTest, CheckSaysWhatOpenWouldAndChangesNothing) {
  TemporaryFolder folder;
  const auto fresh = folder.path() / "above" / "state";
  EXPECT_TRUE(StateFolder::Check(fresh).ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));

  const auto home = folder.path() / "home";
  std::filesystem::create_directory(home);
  std::ofstream(home / "letter.txt") << "dear";
  ASSERT_EQ(chmod(home.c_str(), 0755), 0);
  const auto nfs = [](const auto&) { return std::optional<int64_t>(0x6969); };
  for (const absl::Status& refused :
       {StateFolder::Check(home / "letter.txt" / "below"),
        StateFolder::Check(home), StateFolder::Check(fresh, false, nfs)}) {
    EXPECT_EQ(ErrorOf(refused), ErrorCode::kStateUnusable);
  }
  EXPECT_TRUE(StateFolder::Check(fresh, true, nfs).ok());
  EXPECT_FALSE(std::filesystem::exists(fresh));

  // Who holds it now has it rightly.
  const auto held = StateFolder::Open(fresh);
  ASSERT_TRUE(held.ok()) << held.status();
  EXPECT_TRUE(StateFolder::Check(fresh).ok());
}

TEST(StateFolderTest, FileIsReplacedAsAWhole) {
  TemporaryFolder folder;
  auto state = StateFolder::Open(folder.path());
  ASSERT_TRUE(state->WriteFile("a.json", "first, a longer text").ok());
  ASSERT_TRUE(state->WriteFile("a.json", "second").ok());
  std::ifstream file(folder.path() / "a.json");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "second");
}

TEST(DataInspectorTest, FileTooLargeToBeTextIsRefusedUnread) {
  TemporaryFolder folder;
  const auto path = folder.path() / "sparse";
  std::ofstream(path).put('a');
  std::filesystem::resize_file(path, uintmax_t{1} << 40);
  const auto facts = rpc::InspectData(path.string(), {});
  EXPECT_THAT(std::string(facts.status().message()),
              HasSubstr("a data set may have"));
}

Launch Parse(std::vector<const char*> words) {
  words.insert(words.begin(), "leadline-coordinator");
  return ParseCommandLine(static_cast<int>(words.size()), words.data(), "1");
}

TEST(StateFolderTest, AFolderOfAnotherMachineIsTakenOnlyWhenToldTo) {
  TemporaryFolder folder;
  const auto nfs = [](const auto&) { return std::optional<int64_t>(0x6969); };
  const auto path = folder.path() / "state";
  const auto refused = StateFolder::Open(path, false, nfs);
  EXPECT_TRUE(absl::IsFailedPrecondition(refused.status()));
  EXPECT_FALSE(std::filesystem::exists(path));
  const auto taken = StateFolder::Open(path, true, nfs);
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_TRUE(taken->is_on_network());
}

TEST(ConfigTest, DefaultsListenOnASocketInTheStateFolder) {
  const Launch launch = Parse({"--state", "/tmp/x"});
  ASSERT_TRUE(launch.config.has_value()) << launch.text;
  EXPECT_EQ(launch.config->address.ToText(), "unix:/tmp/x/coordinator.sock");
  EXPECT_FALSE(launch.config->is_private);
}

TEST(ConfigTest, MisuseEndsWithTwoAndSaysWhy) {
  EXPECT_EQ(Parse({}).exit_code, 2);
  EXPECT_EQ(Parse({"--state", "x", "--what"}).exit_code, 2);
  EXPECT_THAT(Parse({"--state", "x", "--tls-cert", "c.pem"}).text,
              HasSubstr("--listen HOST:PORT"));
  EXPECT_THAT(Parse({"--state", "x", "--listen", "0.0.0.0:1", "--tls-cert",
                     "/no/c.pem", "--tls-key", "/no/c.key"})
                  .text,
              HasSubstr("/no/c.pem"));
  EXPECT_THAT(Parse({"--state", "x", "--lease", "20", "--grace", "5"}).text,
              HasSubstr("exceed 30"));
  EXPECT_THAT(Parse({"--state", "x", "--lease", "5", "--grace", "60"}).text,
              HasSubstr("third"));
}

TEST(ConfigTest, AnAddressOfAnotherFormIsMisuseThatNamesTheFlag) {
  const Launch listen = Parse({"--state", "x", "--listen", "http://0.0.0.0:7"});
  EXPECT_EQ(listen.exit_code, 2);
  EXPECT_THAT(listen.text,
              HasSubstr("--listen: expected HOST:PORT or unix:PATH, found "
                        "http://0.0.0.0:7; leave out http://"));
  const Launch http = Parse({"--state", "x", "--http", "https://0.0.0.0:1"});
  EXPECT_EQ(http.exit_code, 2);
  EXPECT_THAT(http.text, HasSubstr("--http: expected HOST:PORT, found "
                                   "https://0.0.0.0:1; leave out https://"));
  EXPECT_EQ(Parse({"--state", "x", "--http", "unix:/run/x"}).exit_code, 2);
}

TEST(ConfigTest, PrintedConfigurationReadsBackAndUnknownKeysFail) {
  TemporaryFolder folder;
  const std::string file = (folder.path() / "config").string();
  const Launch printed =
      Parse({"--state", "/tmp/x", "--grace", "77", "--print-config"});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_TRUE(printed.only_prints);
  EXPECT_THAT(printed.text,
              HasSubstr("\n# listen is not set: unix:STATE/coordinator.sock"));
  EXPECT_EQ(Parse({"--state", "x", "--grace", "5", "--print-config"}).exit_code,
            2);
  std::ofstream(file) << printed.text;
  const Launch read = Parse({"--config", file.c_str()});
  ASSERT_TRUE(read.config.has_value()) << read.text;
  EXPECT_EQ(read.config->policy.grace.count(), 77);
  std::ofstream(file) << "state=/tmp/x\nstat=1\n";
  EXPECT_EQ(Parse({"--config", file.c_str()}).exit_code, 2);
}

}  // namespace
}  // namespace leadline
