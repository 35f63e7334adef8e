#include "common/kept_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  EXPECT_EQ(WeighFiles({SweepId{1}}, files_), (KeptSize{2, 1, 123}));
  EXPECT_EQ(WeighFiles({SweepId{2}, SweepId{1}, SweepId{1}}, files_),
            (KeptSize{3, 1, 5123}));
  EXPECT_EQ(WeighFiles({SweepId{3}}, files_), KeptSize{});
  EXPECT_EQ(WeighFiles({}, files_), KeptSize{});
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
  EXPECT_EQ(WeighFiles({SweepId{1}}, files_), KeptSize{});
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
  EXPECT_EQ(WeighFiles({SweepId{1}}, files_), (KeptSize{2, 0, 7}));
}

TEST_F(KeptFilesTest, FoldersThatAreNotThereHoldNothing) {
  EXPECT_THAT(KeptSweeps(files_), IsEmpty());
  EXPECT_EQ(WeighFiles({SweepId{1}}, files_), KeptSize{});
  EXPECT_EQ(BytesIn(files_.state), 0);
}

}  // namespace
}  // namespace leadline
