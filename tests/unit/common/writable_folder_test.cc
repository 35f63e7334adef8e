#include "common/writable_folder.h"

#include <fstream>

#include <gmock/gmock.h>

#include "tests/support/scratch_folder.h"

namespace leadline {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(WritableFolder, OneThatIsThereOrCanBeMadeWillDo) {
  const ScratchFolder folder;
  EXPECT_THAT(WhyNotInto(folder.path()), IsEmpty());
  EXPECT_THAT(WhyNotInto(folder.path() / "new" / "below"), IsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(WritableFolder, AFileIsNoneNorIsAnythingBelowIt) {
  const ScratchFolder folder;
  const auto file = folder.path() / "file";
  std::ofstream(file) << "text";
  for (const auto& path : {file, file / "below"}) {
    EXPECT_THAT(WhyNotInto(path), HasSubstr(file.string() + " is no folder"));
  }
}

TEST(WritableFolder, ALinkToNothingAndANameThatIsTooLongAreNone) {
  const ScratchFolder folder;
  const auto link = folder.path() / "link";
  std::filesystem::create_symlink(folder.path() / "nothing", link);
  EXPECT_THAT(WhyNotInto(link / "below"), HasSubstr(link.string()));
  EXPECT_THAT(WhyNotInto(folder.path() / std::string(300, 'x')),
              HasSubstr("File name too long"));
}

TEST(WritableFolder, WhatNobodyMayWriteIsNamedWithTheReason) {
  EXPECT_THAT(WhyNotInto("/proc/self/new"), HasSubstr("/proc/self"));
}

}  // namespace
}  // namespace leadline
