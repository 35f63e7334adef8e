#include "tls/private_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

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

/// A group may be let in to read, as Debian's ssl-cert is.
bool IsPrivate(const struct stat& about) {
  return (about.st_mode & (S_IRWXO | S_IWGRP | S_IXGRP)) == 0;
}

}  // namespace

absl::StatusOr<SmallFile> ReadSmallFile(const std::string& what,
                                        const std::string& path) {
  // A pipe without a writer must not hold us up.
  const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return Refused(what, path, std::strerror(errno));
  const absl::Cleanup close_file = [file] { close(file); };
  struct stat about {};
  if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
    return Refused(what, path, "it is no file");
  }
  if (about.st_size > kMostBytes) return Refused(what, path, "it is too large");
  std::string text(static_cast<size_t>(about.st_size), '\0');
  const ssize_t size = pread(file, text.data(), text.size(), 0);
  if (size < 0) return Refused(what, path, std::strerror(errno));
  text.resize(static_cast<size_t>(size));
  return SmallFile{std::move(text), IsPrivate(about)};
}

absl::Status CheckPrivate(const std::string& what, const std::string& path,
                          const SmallFile& file) {
  if (file.is_private) return absl::OkStatus();
  return Refused(what, path, "others may read or change it; chmod 600 " + path);
}

absl::StatusOr<std::string> ReadSecretWord(const std::string& what,
                                           const std::string& path) {
  const auto file = ReadSmallFile(what, path);
  if (!file.ok()) return file.status();
  const std::string& text = file->text;
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string::npos) return Refused(what, path, "it is empty");
  const size_t end = text.find_last_not_of(kBlanks) + 1;
  std::string word = text.substr(begin, end - begin);
  if (word.find_first_of(kBlanks) != std::string::npos) {
    return Refused(what, path, "it holds more than one word");
  }
  if (absl::Status is_private = CheckPrivate(what, path, *file);
      !is_private.ok()) {
    return is_private;
  }
  return word;
}

}  // namespace leadline::tls
