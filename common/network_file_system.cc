#include "common/network_file_system.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <sys/vfs.h>

namespace leadline {
namespace {

struct Kind {
  int64_t type;
  std::string_view name;
};

constexpr std::array<Kind, 19> kKinds = {{
    {0x6969, "nfs"},        {0x517B, "smb"},        {0xFF534D42, "cifs"},
    {0xFE534D42, "smb2"},   {0x01021997, "9p"},     {0x65735546, "fuse"},
    {0x00C36400, "ceph"},   {0x0BD00BD0, "lustre"}, {0x19830326, "beegfs"},
    {0x47504653, "gpfs"},   {0x5346414F, "afs"},    {0x6B414653, "afs"},
    {0x73757245, "coda"},   {0x564C, "ncp"},        {0x7461636F, "ocfs2"},
    {0x01161970, "gfs2"},   {0x20030528, "pvfs2"},  {0x786F4256, "vboxsf"},
    {0xBACBACBC, "vmhgfs"},
}};

}  // namespace

std::optional<int64_t> ReadFileSystemType(const std::filesystem::path& path) {
  std::filesystem::path at = path;
  struct statfs about {};
  while (statfs(at.c_str(), &about) != 0) {
    if (!at.has_relative_path()) return std::nullopt;
    at = at.parent_path();
  }
  return static_cast<int64_t>(about.f_type);
}

std::optional<std::string> NetworkFileSystemName(int64_t type) {
  // The number is signed on some machines and has 32 bits on all.
  const int64_t bits = type & 0xFFFFFFFF;
  const auto* found =
      std::find_if(kKinds.begin(), kKinds.end(),
                   [&](const Kind& kind) { return kind.type == bits; });
  if (found == kKinds.end()) return std::nullopt;
  return std::string(found->name);
}

std::string WhyNotForState(const std::filesystem::path& folder,
                           const FileSystemType& type) {
  const std::optional<int64_t> number = type(folder);
  const auto name = number ? NetworkFileSystemName(*number) : std::nullopt;
  if (!name) return "";
  return "refusing " + folder.string() + " as the state folder: it lies on a " +
         *name +
         " file system, where locks and a database's log are not to be relied "
         "on; choose a folder on a disk of this machine with --state, or take "
         "the risk with --allow-network-filesystem (or "
         "LEADLINE_ALLOW_NETWORK_FILESYSTEM=1)";
}

}  // namespace leadline
