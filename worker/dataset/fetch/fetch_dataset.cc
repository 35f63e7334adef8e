#include "worker/dataset/fetch/fetch_dataset.h"

#include <string>
#include <utility>

#include "worker/dataset/data_error.h"
#include "worker/dataset/fetch/download.h"
#include "worker/dataset/fetch/fetch_lock.h"
#include "worker/dataset/fetch/part_file.h"
#include "worker/dataset/fetch/unzip.h"
#include "worker/dataset/text_reader.h"

namespace leadline::dataset {
namespace {

namespace fs = std::filesystem;

std::string HashText(const std::string& hash) {
  return hash.starts_with("md5:") ? hash : "sha256:" + hash;
}

// One file of a data set, and how it comes here.
class Fetching {
 public:
  Fetching(std::string name, int64_t bytes, std::string hash,
           const spec::DownloadSource& source, const FetchOptions& options)
      : options_(options),
        origin_(source.url),
        file_{.url = AddressOf(std::string(source.url), options.base_url),
              .name = std::move(name),
              .bytes = bytes,
              .hash = std::move(hash)} {
    if (source.archive_bytes == 0) return;
    archive_ = {.url = file_.url,
                .name = file_.url.substr(file_.url.rfind('/') + 1),
                .bytes = source.archive_bytes,
                .hash = std::string(source.archive_hash)};
  }

  fs::path Ensure() const {
    fs::create_directories(options_.folder);
    if (IsInPlace(file_)) return PathOf(file_);
    const FetchLock lock(options_.folder / ("." + file_.name + ".lock"),
                         options_, [&] { TellOfOther(); });
    // Whoever held the lock may have fetched it.
    if (!IsInPlace(file_)) archive_.name.empty() ? Fetch(file_) : FetchZipped();
    return PathOf(file_);
  }

  /// How to do without the network, while the file is not there.
  std::string ByHand() const {
    return fs::exists(PathOf(file_)) ? "" : ByHand(fetched());
  }

 private:
  const RemoteFile& fetched() const {
    return archive_.name.empty() ? file_ : archive_;
  }

  fs::path PathOf(const RemoteFile& file) const {
    return options_.folder / file.name;
  }
  fs::path PartOf(const RemoteFile& file) const {
    return options_.folder / (file.name + ".part");
  }

  void Tell(const char* doing, const RemoteFile& file, int64_t done) const {
    if (options_.tell) options_.tell({doing, file.name, done, file.bytes});
  }

  // Another process fetches it: how far it is, the part file says.
  void TellOfOther() const {
    std::error_code none_yet;
    const auto size = fs::file_size(PartOf(fetched()), none_yet);
    Tell("waiting for", fetched(), none_yet ? 0 : static_cast<int64_t>(size));
  }

  std::string HashOf(const fs::path& path, const RemoteFile& file) const {
    int64_t done = 0;
    return ReadAndHash(path, file.hash, [&](std::string_view bytes) {
      if (options_.stop.stop_requested()) throw FetchStopped();
      done += static_cast<int64_t>(bytes.size());
      Tell("checking", file, done);
    });
  }

  // True if the file is there and is the right one; false if none is there.
  // What somebody else put there is not ours to remove.
  bool IsInPlace(const RemoteFile& file) const {
    const fs::path path = PathOf(file);
    std::error_code missing;
    const auto size = fs::file_size(path, missing);
    if (!fs::exists(path)) return false;
    if (!missing && static_cast<int64_t>(size) != file.bytes) {
      throw DataError(path.string() + " has " + std::to_string(size) +
                      " bytes, " + file.name + " has " +
                      std::to_string(file.bytes) +
                      ": if it is being copied, wait; else remove it");
    }
    if (options_.verified && options_.verified->Holds(path)) return true;
    const auto stamp = StampOf(path);
    const std::string found = HashOf(path, file);
    if (found == file.hash) {
      if (options_.verified && stamp) options_.verified->Add(path, *stamp);
      return true;
    }
    throw DataError(path.string() + " has hash " + HashText(found) + ", not " +
                    HashText(file.hash) + ": remove it");
  }

  void Fetch(const RemoteFile& file) const {
    PartFile part(PartOf(file));
    bool goes_on = part.size() > 0;
    for (;;) {
      DownloadOrSayHow(file, part);
      const std::string found = HashOf(part.path(), file);
      if (found == file.hash) break;
      part.Clear();
      // What lay here before may have been of another file: once more, all of
      // it.
      if (!std::exchange(goes_on, false)) {
        part.Remove();
        throw DataError("what came from " + file.url + " has hash " +
                        HashText(found) + ", not " + HashText(file.hash) +
                        "; it was deleted. " + ByHand(file));
      }
    }
    part.MoveTo(PathOf(file));
  }

  void DownloadOrSayHow(const RemoteFile& file, PartFile& part) const {
    try {
      Download(file, options_, part);
    } catch (const DataError& error) {
      if (part.size() == 0) part.Remove();
      throw DataError(std::string(error.what()) + ". " + ByHand(file));
    } catch (const std::system_error&) {
      if (part.size() == 0) part.Remove();
      throw;
    }
  }

  static std::string Facts(const RemoteFile& file) {
    return "(" + std::to_string(file.bytes) + " bytes, " + HashText(file.hash) +
           ")";
  }

  std::string ByHand(const RemoteFile& file) const {
    std::string text = "By hand: get " + origin_ + " " + Facts(file) +
                       " and put it as " + PathOf(file).string();
    if (!archive_.name.empty()) {
      text += ", or what is in it as " + PathOf(file_).string() + " " +
              Facts(file_);
    }
    return text;
  }

  void FetchZipped() const {
    const bool was_there = IsInPlace(archive_);
    if (!was_there) {
      RequireSpace(options_.folder, archive_.bytes + file_.bytes, file_.name);
      Fetch(archive_);
    }
    PartFile part(PartOf(file_));
    part.Clear();
    try {
      RequireSpace(options_.folder, file_.bytes, file_.name);
      Unzip(PathOf(archive_), file_.name, file_.bytes,
            [&](std::string_view bytes) {
              if (options_.stop.stop_requested()) throw FetchStopped();
              part.Append(bytes);
              Tell("unpacking", file_, part.size());
            });
      const std::string found = HashOf(part.path(), file_);
      if (found != file_.hash) {
        throw DataError(file_.name + " in " + PathOf(archive_).string() +
                        " has hash " + HashText(found) + ", not " +
                        HashText(file_.hash));
      }
      part.MoveTo(PathOf(file_));
    } catch (...) {
      part.Remove();
      throw;
    }
    std::error_code kept;
    if (!was_there) fs::remove(PathOf(archive_), kept);
  }

  const FetchOptions& options_;
  std::string origin_;  // its address, whatever the base
  RemoteFile file_;
  RemoteFile archive_;  // without a name where the file is not in one
};

}  // namespace

fs::path FetchDataset(const spec::DatasetInfo& info,
                      const FetchOptions& options) {
  const Fetching first(std::string(info.file), info.bytes,
                       std::string(info.content_hash), info.source, options);
  // The small one first: what is wrong with the way shows early.
  if (!info.held_out_file.empty()) {
    const Fetching held_out(
        std::string(info.held_out_file), info.held_out_bytes,
        std::string(info.held_out_hash), info.held_out_source, options);
    try {
      held_out.Ensure();
    } catch (const DataError& error) {
      const std::string more = first.ByHand();
      throw DataError(error.what() + (more.empty() ? "" : ". " + more));
    }
  }
  return first.Ensure();
}

}  // namespace leadline::dataset
