#include "common/folder_owner.h"

#include <array>

#include <pwd.h>
#include <sys/stat.h>

namespace leadline {
namespace {

/// Its name, or "#65534" as sudo takes it.
std::string UserText(uid_t user) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> buffer{};
  getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found);
  return found != nullptr ? entry.pw_name : "#" + std::to_string(user);
}

}  // namespace

std::string WhyNotAsRoot(const std::filesystem::path& folder, uid_t user) {
  struct stat about {};
  if (user != 0 || stat(folder.c_str(), &about) != 0 || about.st_uid == 0) {
    return "";
  }
  const std::string owner = UserText(about.st_uid);
  return folder.string() + " belongs to the user " + owner +
         ", who could not use what root writes there; run this as that user: "
         "sudo -u '" +
         owner + "' ...";
}

}  // namespace leadline
