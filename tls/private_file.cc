#include "tls/private_file.h"

#include <cerrno>
#include <cstring>

#include <absl/cleanup/cleanup.h>
#include <absl/status/status.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace leadline::tls {
namespace {

constexpr off_t kMostBytes = off_t{1} << 20;
constexpr char kBlanks[] = " \t\r\n";

absl::Status Refused(const std::string& what, const std::string& path,
                     const std::string& why) {
  return absl::InvalidArgumentError("cannot use " + path + " as " + what +
                                    ": " + why);
}

absl::Status CheckPrivacy(const std::string& what, const std::string& path,
                          const struct stat& about) {
  // A group may be let in to read, as Debian's ssl-cert is.
  if ((about.st_mode & (S_IRWXO | S_IWGRP | S_IXGRP)) == 0) {
    return absl::OkStatus();
  }
  return Refused(what, path, "others may read or change it; chmod 600 " + path);
}

}  // namespace

absl::StatusOr<std::string> ReadSmallFile(const std::string& what,
                                          const std::string& path,
                                          Privacy privacy) {
  // A pipe without a writer must not hold us up.
  const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return Refused(what, path, std::strerror(errno));
  const absl::Cleanup close_file = [file] { close(file); };
  struct stat about {};
  if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
    return Refused(what, path, "it is no file");
  }
  if (about.st_size > kMostBytes) return Refused(what, path, "it is too large");
  if (privacy == Privacy::kOwnerAndGroup) {
    const absl::Status checked = CheckPrivacy(what, path, about);
    if (!checked.ok()) return checked;
  }
  std::string text(static_cast<size_t>(about.st_size), '\0');
  const ssize_t size = pread(file, text.data(), text.size(), 0);
  if (size < 0) return Refused(what, path, std::strerror(errno));
  text.resize(static_cast<size_t>(size));
  return text;
}

absl::StatusOr<std::string> ReadSecretWord(const std::string& what,
                                           const std::string& path) {
  auto text = ReadSmallFile(what, path, Privacy::kOwnerAndGroup);
  if (!text.ok()) return text.status();
  const size_t begin = text->find_first_not_of(kBlanks);
  if (begin == std::string::npos) return Refused(what, path, "it is empty");
  const size_t end = text->find_last_not_of(kBlanks) + 1;
  const std::string word = text->substr(begin, end - begin);
  if (word.find_first_of(kBlanks) != std::string::npos) {
    return Refused(what, path, "it holds more than one word");
  }
  return word;
}

}  // namespace leadline::tls
