#include "common/child_process.h"

#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/scratch_folder.h"

namespace leadline {
namespace {

class ChildProcess : public testing::Test {
 protected:
  ChildProgram Shell(const std::string& words) const {
    return {.arguments = {"/bin/sh", "-c", words},
            .output = OutputFile{folder_.path() / "out"},
            .errors = OutputFile{folder_.path() / "err"}};
  }

  /// What it wrote, once it has ended with success.
  std::string Run(const ChildProgram& program) {
    pid_t pid = 0;
    const std::error_code error = StartChild(program, pid);
    EXPECT_FALSE(error) << error.message();
    int status = -1;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0) << Read("err");
    return Read("out");
  }

  std::string Read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_.path() / name).rdbuf();
    return text.str();
  }

  ScratchFolder folder_;
};

TEST_F(ChildProcess, HasItsOutputsAndNoOtherDescriptor) {
  const int kept = open("/dev/null", O_RDONLY);  // not closed by exec
  ASSERT_GT(kept, 2);
  EXPECT_EQ(Run(Shell("echo plain; echo wrong >&2; cat;"
                      "test ! -e /proc/$$/fd/" +
                      std::to_string(kept))),
            "plain\n");
  EXPECT_EQ(Read("err"), "wrong\n");
  close(kept);
}

TEST_F(ChildProcess, WritesAtTheEndOfAFile) {
  Run(Shell("echo one"));
  EXPECT_EQ(Run(Shell("echo two")), "one\ntwo\n");
}

TEST_F(ChildProcess, DoesNotStartWhereAFileThatIsToBeNewIsThere) {
  std::ofstream(folder_.path() / "out") << "kept";
  ChildProgram program = Shell("echo more");
  program.output = OutputFile{.path = folder_.path() / "out", .is_new = true};
  pid_t pid = 0;
  EXPECT_EQ(StartChild(program, pid), std::errc::file_exists);
  EXPECT_EQ(Read("out"), "kept");
}

TEST_F(ChildProcess, WritesToADescriptor) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  ChildProgram program = Shell("echo through");
  program.output = ends[1];
  Run(program);
  close(ends[1]);
  std::string read_back(64, '\0');
  read_back.resize(read(ends[0], read_back.data(), read_back.size()));
  close(ends[0]);
  EXPECT_EQ(read_back, "through\n");
}

TEST_F(ChildProcess, BlocksAndIgnoresNoSignal) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto handler = signal(SIGPIPE, SIG_IGN);
  const std::string status =
      Run(Shell("exec grep -E '^Sig(Blk|Ign)' /proc/self/status"));
  signal(SIGPIPE, handler);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  std::istringstream words(status);
  std::string name;
  uint64_t signals_blocked = 0;
  uint64_t signals_ignored = 0;
  words >> std::hex >> name >> signals_blocked >> name >> signals_ignored;
  ASSERT_TRUE(words) << status;
  EXPECT_EQ(signals_blocked, 0) << status;
  // But for 32 and 33, which the C library keeps for itself.
  EXPECT_EQ(signals_ignored & ~(uint64_t{3} << 31), 0) << status;
}

TEST_F(ChildProcess, LeadsASessionOrAGroupOfOurs) {
  // pid, parent, group, session
  const std::string words =
      "set -- $(cat /proc/$$/stat); test $1 = $5 && echo $6 $1";
  std::istringstream whole(Run(Shell(words)));
  pid_t session = 0;
  pid_t pid = 0;
  whole >> session >> pid;
  EXPECT_EQ(session, pid);
  ChildProgram program = Shell(words);
  program.leads = Leads::kGroup;
  program.output = OutputFile{folder_.path() / "group"};
  Run(program);
  std::istringstream group(Read("group"));
  group >> session >> pid;
  EXPECT_EQ(session, getsid(0));
}

TEST_F(ChildProcess, HasTheGivenEnvironmentAndFolder) {
  ChildProgram program = Shell("echo $WORD $HOME; pwd -P");
  program.environment = {"WORD=said"};
  program.folder = folder_.path();
  EXPECT_EQ(
      Run(program),
      "said\n" + std::filesystem::canonical(folder_.path()).string() + "\n");
}

TEST_F(ChildProcess, SaysWhyItCannotStart) {
  ChildProgram program = Shell("");
  program.arguments = {(folder_.path() / "absent").string()};
  pid_t pid = 0;
  EXPECT_EQ(StartChild(program, pid), std::errc::no_such_file_or_directory);
}

}  // namespace
}  // namespace leadline
