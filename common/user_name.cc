#include "common/user_name.h"

#include <array>

#include <pwd.h>

namespace leadline {

std::string UserName(uid_t user) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> buffer{};
  getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found);
  return found != nullptr ? entry.pw_name : "";
}

}  // namespace leadline
