#include "worker/checkpoint/draft.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <sys/stat.h>

#include "common/sha256.h"
#include "worker/checkpoint/open_file.h"

namespace leadline::checkpoint {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void Fail(const std::string& doing) {
  throw std::system_error(errno, std::generic_category(), doing);
}

}  // namespace

Draft::Draft(fs::path folder) : folder_(std::move(folder)) {
  // A trailing slash would put the parts inside.
  if (!folder_.has_filename()) folder_ = folder_.parent_path();
  if (!folder_.parent_path().empty()) {
    fs::create_directories(folder_.parent_path());
  }
  struct stat about {};
  if (lstat(folder_.c_str(), &about) == 0) {
    errno = EEXIST;
    Fail("cannot make the checkpoint " + folder_.string());
  }
  parts_ = folder_.string() + std::string(kUnfinished) + "XXXXXX";
  if (mkdtemp(parts_.data()) == nullptr) Fail("cannot make " + parts_);
}

Draft::~Draft() {
  std::error_code ignored;
  if (!done_) fs::remove_all(parts_, ignored);
}

TensorWriter Draft::NewFile(std::string_view name,
                            const std::vector<TensorInfo>& tensors) const {
  return {fs::path(parts_) / name, tensors};
}

Draft::Done Draft::Commit(const Manifest& manifest) {
  const std::string text = ManifestJson(manifest);
  {
    const OpenFile file = OpenFile::New(fs::path(parts_) / kManifestFile);
    file.Write(text);
    file.Sync();
  }
  OpenFile::Folder(parts_).Sync();
  // What is made is data, and no secret: mkdtemp made it 0700.
  if (chmod(parts_.c_str(), 0755) != 0 ||
      rename(parts_.c_str(), folder_.c_str()) != 0) {
    Fail("cannot make the checkpoint " + folder_.string());
  }
  done_ = true;
  const fs::path parent = folder_.parent_path();
  OpenFile::Folder(parent.empty() ? "." : parent).Sync();
  Done done{Sha256Of(text), static_cast<int64_t>(text.size())};
  for (const FileEntry& file : manifest.files) done.bytes += file.bytes;
  return done;
}

}  // namespace leadline::checkpoint
