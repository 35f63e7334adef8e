#include "common/folder_owner.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/support/scratch_folder.h"

namespace leadline {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr uid_t kRoot = 0;
constexpr uid_t kSomebody = 54321;

/// As root they can be given away; as anybody else they are not root's anyhow.
uid_t GiveAway(const std::filesystem::path& folder) {
  if (geteuid() != kRoot) return geteuid();
  EXPECT_EQ(chown(folder.c_str(), kSomebody, kSomebody), 0);
  return kSomebody;
}

TEST(FolderOwner, RootDoesNotWriteIntoAnothersFolder) {
  const ScratchFolder folder;
  const uid_t owner = GiveAway(folder.path());
  const std::string why = WhyNotAsRoot(folder.path(), kRoot);
  EXPECT_THAT(why, HasSubstr(folder.path().string() + " belongs to the user"));
  EXPECT_THAT(why, HasSubstr("sudo -u "));
  if (owner == kSomebody) {
    EXPECT_THAT(why, HasSubstr("'#54321'"));
  }
}

TEST(FolderOwner, OthersMayWhatTheSystemLetsThem) {
  const ScratchFolder folder;
  GiveAway(folder.path());
  EXPECT_THAT(WhyNotAsRoot(folder.path(), kSomebody), IsEmpty());
  EXPECT_THAT(WhyNotAsRoot(folder.path(), kSomebody + 1), IsEmpty());
}

TEST(FolderOwner, AFolderThatIsNotThereIsNobodys) {
  const ScratchFolder folder;
  EXPECT_THAT(WhyNotAsRoot(folder.path() / "new", kRoot), IsEmpty());
}

TEST(FolderOwner, RootMayWriteIntoItsOwn) {
  EXPECT_THAT(WhyNotAsRoot("/", kRoot), IsEmpty());
}

}  // namespace
}  // namespace leadline
