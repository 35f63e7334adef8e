#include "worker/checkpoint/new_folder.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <sys/stat.h>

#include "worker/checkpoint/open_file.h"

namespace leadline::checkpoint {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void Fail(const std::string& doing) {
  throw std::system_error(errno, std::generic_category(), doing);
}

}  // namespace

NewFolder::NewFolder(fs::path folder) : folder_(std::move(folder)) {
  // A trailing slash would put the parts inside.
  if (!folder_.has_filename()) folder_ = folder_.parent_path();
  if (!folder_.parent_path().empty()) {
    fs::create_directories(folder_.parent_path());
  }
  struct stat about {};
  if (lstat(folder_.c_str(), &about) == 0) {
    errno = EEXIST;
    Fail("cannot make " + folder_.string());
  }
  parts_ = folder_.string() + std::string(kUnfinished) + "XXXXXX";
  if (mkdtemp(parts_.data()) == nullptr) Fail("cannot make " + parts_);
}

NewFolder::~NewFolder() {
  std::error_code ignored;
  if (!done_) fs::remove_all(parts_, ignored);
}

fs::path NewFolder::File(std::string_view name) const {
  return fs::path(parts_) / name;
}

void NewFolder::WriteFile(std::string_view name, std::string_view bytes) const {
  const OpenFile file = OpenFile::New(File(name));
  file.Write(bytes);
  file.Sync();
}

void NewFolder::Publish() {
  OpenFile::Folder(parts_).Sync();
  // What is made is data, and no secret: mkdtemp made it 0700.
  if (chmod(parts_.c_str(), 0755) != 0 ||
      rename(parts_.c_str(), folder_.c_str()) != 0) {
    Fail("cannot make " + folder_.string());
  }
  done_ = true;
  const fs::path parent = folder_.parent_path();
  OpenFile::Folder(parent.empty() ? "." : parent).Sync();
}

}  // namespace leadline::checkpoint
