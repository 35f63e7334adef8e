#include "common/writable_folder.h"

#include <cerrno>
#include <cstring>

#include <unistd.h>

namespace leadline {

std::string WhyNotInto(std::filesystem::path folder) {
  std::error_code error;
  // What is only missing can be made; a link to nothing is there.
  while (std::filesystem::symlink_status(folder, error).type() ==
             std::filesystem::file_type::not_found &&
         folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  if (!std::filesystem::is_directory(folder, error)) {
    return error ? folder.string() + ": " + error.message()
                 : folder.string() + " is no folder";
  }
  if (access(folder.c_str(), W_OK | X_OK) == 0) return "";
  return folder.string() + ": " + std::strerror(errno);
}

}  // namespace leadline
