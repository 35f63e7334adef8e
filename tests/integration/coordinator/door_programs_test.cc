// The command line at a locked door: exit codes and words.

#include <fstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "door_world.h"
#include "tests/integration/cli/program.h"

namespace leadline {
namespace {

using cli_test::Ended;
using cli_test::Program;
using testing::HasSubstr;

class DoorProgramsTest : public ::testing::Test {
 protected:
  Ended Run(std::vector<std::string> words, Program::Variables variables = {}) {
    variables.insert({"LEADLINE_COORDINATOR", world_.address()});
    Program program(std::move(words), variables);
    return program.Wait();
  }
  Ended RunTrusting(std::vector<std::string> words, const std::string& token) {
    return Run(std::move(words), {{"LEADLINE_TLS_CA", world_.files().ca},
                                  {"LEADLINE_TOKEN", token}});
  }
  std::string Write(const std::string& text, mode_t mode) {
    std::string path = (folder_.path() / "file").string();
    std::ofstream(path, std::ios::trunc) << text << "\n";
    chmod(path.c_str(), mode);
    return path;
  }

  TemporaryFolder folder_;
  DoorWorld world_{DoorWorld::Encrypted::kYes};
};

TEST_F(DoorProgramsTest, WhoIsNotLetInEndsWithFiveAndTheReason) {
  const std::string reader = world_.Token(AccessRole::kRead);
  test::TestAuthority other(folder_.path(), "other");
  const struct {
    Ended ended;
    const char* says;
  } cases[] = {
      {RunTrusting({"ls"}, ""), "no token was shown"},
      {RunTrusting({"ls"}, "llt1_" + std::string(64, '0')), "not known here"},
      {RunTrusting({"cancel", "s1"}, reader), "has the role read"},
      {RunTrusting({"token", "list"}, reader), "needs the role admin"},
      {RunTrusting({"note", "s1", "x"}, reader), "(by leadline note)"},
      {Run({"ls", "--tls-ca", other.file()}), "--tls-ca"},
      {Run({"ls"}), "speaks TLS"},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(one.ended.exit_code, 5) << one.says << one.ended.err;
    EXPECT_THAT(one.ended.err, HasSubstr(one.says));
    EXPECT_THAT(one.ended.err, HasSubstr(world_.address()));
  }
}

TEST_F(DoorProgramsTest, OfAFailedHandshakeOnlyOurWordsAreOnStandardError) {
  test::TestAuthority other(folder_.path(), "other");
  const Ended json = Run({"ls", "--tls-ca", other.file(), "--json"});
  EXPECT_EQ(json.exit_code, 5);
  const auto document = nlohmann::json::parse(json.err, nullptr, false);
  ASSERT_FALSE(document.is_discarded()) << json.err;
  EXPECT_EQ(document["error"]["code"], "unauthenticated");
  const Ended plain = Run({"ls", "--tls-ca", other.file()});
  EXPECT_THAT(plain.err, testing::StartsWith("leadline: "));
  EXPECT_THAT(plain.err, testing::Not(HasSubstr("ssl_transport_security")));
  // Whoever asks gRPC for its lines gets them.
  EXPECT_THAT(
      Run({"ls", "--tls-ca", other.file()}, {{"GRPC_VERBOSITY", "error"}}).err,
      HasSubstr("ssl_transport_security"));
}

TEST_F(DoorProgramsTest, AServerWhoseKeyDoesNotFitEndsNoCommandByASignal) {
  const std::string token = world_.Token(AccessRole::kRead);
  const auto other = world_.authority().Make("renewed");
  std::filesystem::rename(other.certificate, world_.server_files().certificate);
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  Ended ended;
  do {
    ended = RunTrusting({"ls"}, token);
  } while (ended.exit_code == 0 && std::chrono::steady_clock::now() < until);
  // More than once: which end closes first is not always the same.
  for (int tries = 0; tries < 5; ++tries) {
    EXPECT_EQ(ended.exit_code, 4) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(world_.address()));
    ended = RunTrusting({"ls"}, token);
  }
}

TEST_F(DoorProgramsTest, FilesThatCannotBeUsedAreMisuse) {
  const auto mine = world_.authority().Make("mine");
  chmod(mine.key.c_str(), 0644);
  const std::string token = Write(world_.Token(AccessRole::kRead), 0644);
  const std::vector<std::vector<std::string>> cases = {
      {"ls", "--tls-ca", "/no/such/file"},
      {"ls", "--tls-ca", world_.files().ca, "--tls-cert", mine.certificate,
       "--tls-key", mine.key},
      {"ls", "--tls-ca", world_.files().ca, "--tls-cert", mine.certificate},
      {"ls", "--tls-ca", world_.files().ca, "--token-file", token},
  };
  for (const auto& words : cases) {
    const Ended ended = Run(words);
    EXPECT_EQ(ended.exit_code, 2) << ended.err;
  }
}

TEST_F(DoorProgramsTest, TokensAreMadeUsedListedAndRevoked) {
  const std::string admin = world_.Token(AccessRole::kAdmin);
  const Ended made = RunTrusting({"token", "create", "--role", "read", "--name",
                                  "ci", "--expires", "2", "--json"},
                                 admin);
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const auto token = nlohmann::json::parse(made.out);
  EXPECT_EQ(token["token"], "t2");
  const std::string secret = token["secret"];
  const Ended plain =
      RunTrusting({"token", "create", "--role", "agent"}, admin);
  EXPECT_EQ(plain.out.substr(0, 5), "llt3_");
  EXPECT_EQ(plain.out.size(), 5U + 64U + 1U);
  EXPECT_THAT(plain.err, HasSubstr("shown this once"));

  const std::string file = Write(secret, 0600);
  EXPECT_EQ(Run({"ls", "--tls-ca", world_.files().ca, "--token-file", file})
                .exit_code,
            0);
  const Ended list = RunTrusting({"token", "list"}, admin);
  EXPECT_THAT(list.out, HasSubstr("ci"));
  EXPECT_THAT(list.out, testing::Not(HasSubstr(secret.substr(5))));
  EXPECT_EQ(RunTrusting({"token", "revoke", "t2"}, admin).exit_code, 0);
  const Ended refused = RunTrusting({"ls"}, secret);
  EXPECT_EQ(refused.exit_code, 5);
  EXPECT_THAT(refused.err, HasSubstr("was revoked at"));
  EXPECT_EQ(RunTrusting({"token", "revoke", "t9"}, admin).exit_code, 6);
  EXPECT_EQ(RunTrusting({"token", "revoke"}, admin).exit_code, 2);
  EXPECT_EQ(RunTrusting({"token", "create"}, admin).exit_code, 2);

  const Ended audit = RunTrusting({"audit", "--json"}, admin);
  ASSERT_EQ(audit.exit_code, 0) << audit.err;
  EXPECT_THAT(audit.out, HasSubstr("\"RevokeToken\""));
  EXPECT_THAT(audit.out, testing::Not(HasSubstr(secret.substr(5))));
  const auto page = nlohmann::json::parse(
      RunTrusting({"audit", "--limit", "1", "--json"}, admin).out);
  EXPECT_EQ(page["entries"].size(), 1U);
  EXPECT_EQ(page["more"], true);
}

}  // namespace
}  // namespace leadline
