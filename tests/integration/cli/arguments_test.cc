// What holds of every command: arguments, help, exit codes, output.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands_fixture.h"

namespace leadline::cli_test {
namespace {

using grpc::Status;
using grpc::StatusCode;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(Commands, WithoutOneTellWhatThereIs) {
  const Ended ended = Run({});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, HasSubstr("leadline --help"));
}

TEST_F(Commands, RefuseArgumentsTheyDoNotKnow) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{
           {"nonsense"},
           {"run"},
           {"ls", "--limit", "0"},
           {"ls", "--limit", "x"},
           {"ls", "stray"},
           {"show"},
           {"show", "s1", "--routing"},
           {"show", "s1.1.0", "--step", "3"},
           {"results", "--format", "xml"},
           {"logs", "s1.1.0", "--stdout", "--stderr"},
           {"retry"},
           {"retry", "s1", "--everything"},
           {"pause", "s1", "s2"},
           {"resume"},
           {"explain"},
           {"ls", "--failed-kind", "preempted"},
           {"show", "s1.1.0", "--failed-kind", "oom"},
           {"show", "s1", "--failed-kind", "diverged"},
           {"ls", "--coordinator", "nowhere"}}) {
    const Ended ended = Run(arguments);
    EXPECT_EQ(ended.exit_code, 2) << arguments[0] << ended.err;
    EXPECT_EQ(ended.out, "");
    EXPECT_NE(ended.err, "");
    EXPECT_EQ(RunJsonError(arguments, 2).size(), 4U);
  }
}

TEST_F(Commands, NameTheArgumentThatIsWrong) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"rnu", "sweep.yaml"}, "there is no command 'rnu', did you mean run?\n"},
      {{"run", "--slotz", "2", "sweep.yaml"},
       "there is no option --slotz, did you mean --slots?\n"},
      {{"--jso=1", "ls"}, "there is no option --jso, did you mean --json?\n"},
      {{"-x"}, "there is no option -x\n"},
      {{"plan", "a.yaml", "b.yaml"}, "unexpected argument 'b.yaml'"},
      {{"results", "--format", "pdf"},
       "--format: 'pdf', expected table, markdown, csv or json"},
      {{"nodes", "rm", "n"}, "ACTION: 'rm', expected show or clear\n"},
      {{"token", "mk"}, "ACTION: 'mk', expected create, list or revoke\n"},
      {{"token"}, "ACTION is required\n"},
      {{"token", "create", "--expires", "abc"},
       "--expires: 'abc', expected a number from 0.0001 to 36500\n"},
      {{"retry"}, "TARGET is required\n"},
      {{"ls", "--limit"}, "--limit needs a value\n"},
      // A shell's variable that is not set names no other coordinator.
      {{"--coordinator", "", "ls"}, "--coordinator is empty\n"},
      {{"--coordinator=", "ls"}, "--coordinator is empty\n"},
      {{"ls", "--token-file", ""}, "--token-file is empty\n"},
      {{"ls", "--token-file="}, "--token-file is empty\n"},
      {{"--coordinatr=", "ls"},
       "there is no option --coordinatr, did you mean --coordinator?\n"},
      {{"ls", "--name", ""}, "--name is empty\n"},
      {{"note", "s1", "--json="}, "TEXT is required\n"},
      {{"fsck", ""}, "FILE is empty\n"},
      {{"show", ""}, "TARGET is empty\n"},
      {{"watch", ""}, "SWEEP is empty\n"},
      {{"results", ""}, "SWEEP is empty\n"},
      {{"backup", ""}, "FILE is empty\n"},
      {{"token", "list", "t1"}, "token list takes no ID\n"},
      {{"token", "list", "--role", "read"}, "token list takes no --role\n"},
      {{"token", "revoke", "t5", "--name", "x"},
       "token revoke takes no --name\n"},
      {{"token", "create", "--role", "read", "t5"},
       "token create takes no ID\n"},
      {{"show", "\xff\xfe"}, "an argument is no UTF-8 text: \\xff\\xfe\n"},
      {{"ls", "--name", "\xff"}, "an argument is no UTF-8 text: \\xff\n"},
      {{"ls", "--limit", "2", "--limit", "3"},
       "--limit is given more than once\n"},
      {{"ls", "--limit", "x"},
       "--limit: 'x', expected a whole number from 1 to 1000000\n"},
      {{"watch", "s1", "--patience", "x"},
       "--patience: 'x', expected a whole number from 0 to 31536000\n"},
      {{"logs", "s1.1.0", "--stdout", "--stderr"},
       "--stdout and --stderr exclude each other\n"},
      {{"ls", "--failed-kind", "cancelled"},
       "--failed-kind: 'cancelled', expected one of config, data, oom, "
       "nccl_init, nccl, device, disk, crash, hang, agent_lost"}};
  for (const auto& [arguments, message] : cases) {
    EXPECT_THAT(Run(arguments).err, HasSubstr("leadline: " + message));
  }
}

TEST_F(Commands, HelpNeedsNoCoordinatorAndTeaches) {
  Program program({"--help"}, {});
  const Ended all = program.Wait();
  EXPECT_EQ(all.exit_code, 0);
  for (const char* part :
       {"Examples:", "Exit codes:", "LEADLINE_STATE", "130"}) {
    EXPECT_THAT(all.out, HasSubstr(part));
  }
  for (const char* command :
       {"run",      "submit",  "plan",     "ls",           "show",    "watch",
        "results",  "logs",    "explain",  "nodes",        "pause",   "resume",
        "retry",    "cancel",  "note",     "tag",          "archive", "rm",
        "backup",   "restore", "fsck",     "convert",      "token",   "audit",
        "settings", "methods", "datasets", "text8-filter", "version"}) {
    EXPECT_THAT(all.out, HasSubstr("  " + std::string(command) + " "));
    Program one({command, "--help"}, {});
    const Ended ended = one.Wait();
    EXPECT_EQ(ended.exit_code, 0);
    EXPECT_THAT(ended.out, HasSubstr("--json"));
    EXPECT_THAT(ended.out, Not(HasSubstr("Excludes")));
    EXPECT_THAT(ended.out,
                HasSubstr("Examples:\n  leadline " + std::string(command)));
  }
}

TEST_F(Commands, HelpSaysWhichArgumentsMayBeLeftOut) {
  for (const auto& [command, usage] :
       std::map<std::string, std::string>{{"fsck", "[FILE]"},
                                          {"restore", "FILE"},
                                          {"token", "ACTION [ID]"},
                                          {"nodes", "[ACTION] [NODE]"},
                                          {"results", "[SWEEP]"},
                                          {"tag", "SWEEP [[+]TAG...]"},
                                          {"cancel", "TARGET"}}) {
    Program program({command, "--help"}, {});
    EXPECT_THAT(program.Wait().out,
                HasSubstr(command + " [OPTIONS] " + usage + "\n"));
  }
}

TEST_F(Commands, SayThatNoCoordinatorAnswers) {
  Program program({"ls", "--coordinator", "127.0.0.1:1"}, {});
  const Ended ended = program.Wait();
  EXPECT_EQ(ended.exit_code, 4);
  EXPECT_THAT(ended.err, HasSubstr("127.0.0.1:1"));
  Program socket({"ls", "--coordinator", "unix:/no/such/folder/s.sock"}, {});
  EXPECT_EQ(socket.Wait().exit_code, 4);
}

TEST_F(Commands, MapTheCoordinatorsRefusalsToExitCodes) {
  const std::map<StatusCode, int> codes = {
      {StatusCode::PERMISSION_DENIED, 5}, {StatusCode::UNAUTHENTICATED, 5},
      {StatusCode::NOT_FOUND, 6},         {StatusCode::UNAVAILABLE, 4},
      {StatusCode::INTERNAL, 1},          {StatusCode::UNIMPLEMENTED, 1}};
  for (const auto& [code, exit_code] : codes) {
    answers_.cancel = [code = code](const auto&, auto*) {
      return Status(code, "why");
    };
    EXPECT_EQ(Run({"cancel", "s1"}).exit_code, exit_code) << code;
    EXPECT_NE(RunJsonError({"cancel", "s1"}, exit_code)["message"], "");
  }
}

TEST_F(Commands, VersionIsOneLine) {
  EXPECT_THAT(Run({"version"}).out,
              ::testing::MatchesRegex("leadline [0-9.]+\n"));
  EXPECT_EQ(RunJson({"version"})["program"], "leadline");
}

TEST_F(Commands, NoticeThatStandardOutputIsFull) {
  // Little is written at the end, much before it: the reason is told of both.
  for (const std::string what : {"version", "settings --json"}) {
    const std::string told = (folder_ / "told").string();
    const std::string command =
        std::string(LEADLINE_PROGRAM) + " " + what + " > /dev/full 2> " + told;
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1);
    std::ifstream file(told);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    EXPECT_THAT(text, HasSubstr("No space left")) << what;
  }
}

}  // namespace
}  // namespace leadline::cli_test
