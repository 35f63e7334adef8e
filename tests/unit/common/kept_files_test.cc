#include "common/kept_files.h"

#include <string>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/scratch_folder.h"

namespace leadline {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class KeptFilesTest : public ::testing::Test {
 protected:
  void Write(const fs::path& file, size_t bytes) {
    fs::create_directories(file.parent_path());
    Append(file, std::string(bytes, 'x'));
  }
  fs::path Attempt(const std::string& id) const {
    return files_.state / "attempts" / id;
  }

  KeptSize Weigh(const std::vector<SweepId>& sweeps) {
    return WeighFiles(sweeps, files_, [] { return true; });
  }

  ScratchFolder folder_;
  KeptFiles files_{folder_.path() / "state", folder_.path() / "checkpoints"};
};

TEST_F(KeptFilesTest, AllOfTheSweepsAskedForIsWeighedAndNothingElse) {
  Write(Attempt("s1.1.c0@1") / "events.jsonl", 100);
  Write(Attempt("s1.1.c0@2") / "rank-1" / "stderr.log", 20);
  Write(files_.checkpoints / "s1.1.c0" / "step-10" / "data", 3);
  Write(Attempt("s2.1.c0@1") / "events.jsonl", 5000);
  Write(Attempt("s11.1.c0@1") / "events.jsonl", 70000);
  Write(files_.checkpoints / "s12.1.c0" / "data", 900000);
  EXPECT_EQ(Weigh({SweepId{1}}), (KeptSize{2, 1, 123}));
  EXPECT_EQ(Weigh({SweepId{2}, SweepId{1}, SweepId{1}}),
            (KeptSize{3, 1, 5123}));
  EXPECT_EQ(Weigh({SweepId{3}}), KeptSize{});
  EXPECT_EQ(Weigh({}), KeptSize{});
  EXPECT_THAT(KeptSweeps(files_),
              ElementsAre(SweepId{1}, SweepId{2}, SweepId{11}, SweepId{12}));
}

TEST_F(KeptFilesTest, NamesThatAreNoIdsOfOursCountForNone) {
  for (const char* name :
       {"s1", "s1.1.c0", "s1.1.c0@1.old-1", "s01.1.c0@1", "s1.1.c0@0"}) {
    Write(Attempt(name) / "data", 10);
  }
  for (const char* name : {"s1", "s1.1.c0@1", "s1.1.c0.old-1", ".s1.1.c0"}) {
    Write(files_.checkpoints / name / "data", 10);
  }
  EXPECT_THAT(KeptSweeps(files_), IsEmpty());
  EXPECT_EQ(Weigh({SweepId{1}}), KeptSize{});
}

TEST_F(KeptFilesTest, WhatLinksLeadToIsNotWeighed) {
  Write(folder_.path() / "elsewhere" / "much", 1000);
  Write(Attempt("s1.1.c0@1") / "events.jsonl", 7);
  fs::create_directory_symlink(folder_.path() / "elsewhere",
                               Attempt("s1.1.c0@1") / "checkpoints");
  fs::create_symlink(folder_.path() / "elsewhere" / "much",
                     Attempt("s1.1.c0@1") / "link");
  fs::create_directory_symlink(folder_.path() / "elsewhere",
                               Attempt("s1.2.c0@1"));
  EXPECT_EQ(Weigh({SweepId{1}}), (KeptSize{2, 0, 7}));
}

TEST_F(KeptFilesTest, BesideWhatCannotBeReadAllElseIsWeighedAndItIsSaid) {
  for (const char* name : {"a", "b", "c"}) {
    Write(Attempt("s1.1.c0@1") / name / "data", 100);
  }
  // Nobody, root neither, follows a name that is longer than names may be.
  const fs::path deep = Attempt("s1.1.c0@1") / "b" / "deep";
  fs::create_directories(deep);
  const int top = open(deep.c_str(), O_PATH | O_DIRECTORY);
  int folder = top;
  const std::string name(200, 'n');
  for (int depth = 0; depth < 25; ++depth) {
    ASSERT_EQ(mkdirat(folder, name.c_str(), 0700), 0);
    const int next = openat(folder, name.c_str(), O_PATH | O_DIRECTORY);
    close(folder);
    folder = next;
  }
  close(folder);
  EXPECT_EQ(Weigh({SweepId{1}}), (KeptSize{1, 0, 300, true}));
  EXPECT_EQ(Weigh({SweepId{2}}), KeptSize{});
}

TEST_F(KeptFilesTest, AFolderWithoutNamesToReadIsNotTakenForEmpty) {
  Write(files_.state / "attempts", 1);  // no folder
  EXPECT_EQ(Weigh({SweepId{1}}), (KeptSize{0, 0, 0, true}));
}

TEST_F(KeptFilesTest, AFileInThePlaceOfAFolderIsWeighedAsItIs) {
  Write(Attempt("s1.1.c0@1"), 40);
  EXPECT_EQ(Weigh({SweepId{1}}), (KeptSize{1, 0, 40}));
}

TEST_F(KeptFilesTest, WhatWasSeenWhenTimeIsOverIsTheLeast) {
  for (int i = 0; i < 10; ++i) {
    Write(Attempt("s1.1.c0@1") / std::to_string(i), 10);
  }
  int looks = 0;
  const KeptSize size =
      WeighFiles({SweepId{1}}, files_, [&] { return ++looks <= 5; });
  EXPECT_EQ(size, (KeptSize{1, 0, 40, true}));  // of the folder and four files
}

TEST_F(KeptFilesTest, FoldersThatAreNotThereHoldNothing) {
  EXPECT_THAT(KeptSweeps(files_), IsEmpty());
  EXPECT_EQ(Weigh({SweepId{1}}), KeptSize{});
  EXPECT_EQ(BytesIn(files_.state), 0);
}

}  // namespace
}  // namespace leadline
