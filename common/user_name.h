// What the system calls its users.

#pragma once

#include <string>

#include <sys/types.h>

namespace leadline {

/// Empty where the system has no name for it. Any thread.
std::string UserName(uid_t user);

/// Its name, else its number.
inline std::string UserText(uid_t user) {
  const std::string name = UserName(user);
  return name.empty() ? std::to_string(user) : name;
}

}  // namespace leadline
