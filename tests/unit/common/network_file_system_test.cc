#include "common/network_file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leadline {
namespace {

using testing::AllOf;
using testing::HasSubstr;

FileSystemType Injected(int64_t type) {
  return [type](const std::filesystem::path&) { return type; };
}

TEST(NetworkFileSystemTest, FoldersOfOtherMachinesAreRefusedWithTheWayOut) {
  const std::pair<int64_t, const char*> kinds[] = {
      {0x6969, "nfs"},
      {0x517B, "smb"},
      {0xFE534D42, "smb2"},
      {0x01021997, "9p"},
      {0x65735546, "fuse"},
      {0xFF534D42, "cifs"},
      {static_cast<int32_t>(0xFF534D42), "cifs"}};
  for (const auto& [type, name] : kinds) {
    EXPECT_THAT(
        WhyNotForState("/some/where", Injected(type)),
        AllOf(HasSubstr("/some/where"), HasSubstr(name), HasSubstr("--state"),
              HasSubstr("--allow-network-filesystem")))
        << name;
  }
}

TEST(NetworkFileSystemTest, DisksOfThisMachineAreTaken) {
  const int64_t kinds[] = {0xEF53,     0x58465342, 0x9123683E, 0x01021994,
                           0x794C7630, 0x2FC12FC1, 0};
  for (const int64_t type : kinds) {
    EXPECT_EQ(WhyNotForState("/some/where", Injected(type)), "") << type;
  }
  EXPECT_EQ(
      WhyNotForState("/some/where",
                     [](const auto&) { return std::optional<int64_t>(); }),
      "");
}

TEST(NetworkFileSystemTest, AFolderThatIsYetToBeMadeIsJudgedByTheOneAboveIt) {
  EXPECT_EQ(ReadFileSystemType("/proc/no/such/folder"),
            ReadFileSystemType("/proc"));
  EXPECT_NE(ReadFileSystemType("/proc"), std::nullopt);
}

}  // namespace
}  // namespace leadline
