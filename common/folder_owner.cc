#include "common/folder_owner.h"

#include <sys/stat.h>

#include "common/user_name.h"

namespace leadline {
std::string WhyNotAsRoot(const std::filesystem::path& folder, uid_t user) {
  struct stat about {};
  if (user != 0 || stat(folder.c_str(), &about) != 0 || about.st_uid == 0) {
    return "";
  }
  const std::string name = UserName(about.st_uid);
  const std::string for_sudo =
      name.empty() ? "'#" + std::to_string(about.st_uid) + "'" : name;
  return folder.string() + " belongs to the user " + UserText(about.st_uid) +
         ", who could not use what root writes there; run this as that user: "
         "sudo -u " +
         for_sudo + " ...";
}

}  // namespace leadline
