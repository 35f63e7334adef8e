#include "worker/dataset/whole_file.h"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace leadline::dataset {
namespace {

[[noreturn]] void Fail(const std::string& path) {
  throw std::system_error(errno, std::generic_category(),
                          "cannot write " + path);
}

// Unlinks the file unless it was renamed away.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& beside)
      : path_(beside.string() + ".XXXXXX"), descriptor_(mkstemp(path_.data())) {
    if (descriptor_ < 0) Fail(path_);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    close(descriptor_);
    if (!renamed_) unlink(path_.c_str());
  }

  void Write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = write(descriptor_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) Fail(path_);
      bytes.remove_prefix(static_cast<size_t>(count));
    }
  }

  void MoveTo(const std::filesystem::path& path) {
    // The mode of mkstemp is 0600; what is made is data, and no secret.
    if (fchmod(descriptor_, 0644) != 0 || fsync(descriptor_) != 0 ||
        rename(path_.c_str(), path.c_str()) != 0) {
      Fail(path.string());
    }
    renamed_ = true;
  }

 private:
  std::string path_;
  int descriptor_;
  bool renamed_ = false;
};

void SyncFolder(const std::filesystem::path& folder) {
  const int descriptor =
      open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) Fail(folder.string());
  const int result = fsync(descriptor);
  close(descriptor);
  if (result != 0) Fail(folder.string());
}

}  // namespace

void WriteWholeFile(const std::filesystem::path& path, std::string_view bytes) {
  TemporaryFile file(path);
  file.Write(bytes);
  file.MoveTo(path);
  SyncFolder(path.parent_path());
}

}  // namespace leadline::dataset
