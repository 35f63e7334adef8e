#include "worker/dataset/fetch/download.h"

#include <algorithm>
#include <utility>

#include "worker/dataset/data_error.h"
#include "worker/dataset/fetch/fetch_lock.h"

namespace leadline::dataset {
namespace {

constexpr int64_t kPartialContent = 206;
constexpr int64_t kRangeNotSatisfiable = 416;

// Writes an answer to the part file, refusing what cannot be the file before
// anything of it is written.
class PartReceiver final : public HttpReceiver {
 public:
  PartReceiver(const RemoteFile& file, const FetchOptions& options,
               PartFile& part)
      : file_(file), options_(options), part_(part) {}

  void Begin(const HttpHead& head) override {
    if (head.status == kPartialContent) {
      if (head.range_total && *head.range_total != file_.bytes) {
        RefuseSize(*head.range_total);
      }
      if (head.range_begin != part_.size()) {
        Refuse("the server sent another range than was asked for");
      }
      return;
    }
    if (head.length && *head.length != file_.bytes) RefuseSize(*head.length);
    // A server that does not know ranges begins anew.
    if (part_.size() > 0) part_.Clear();
  }

  void Take(std::string_view bytes) override {
    if (part_.size() + static_cast<int64_t>(bytes.size()) > file_.bytes) {
      part_.Clear();
      Refuse("the server sent more than the " + std::to_string(file_.bytes) +
             " bytes the file has");
    }
    part_.Append(bytes);
    if (options_.tell) {
      options_.tell({"fetching", file_.name, part_.size(), file_.bytes});
    }
  }

 private:
  [[noreturn]] void Refuse(const std::string& why) const {
    throw DataError("cannot fetch " + file_.url + ": " + why);
  }
  [[noreturn]] void RefuseSize(int64_t size) const {
    Refuse("the server offers " + std::to_string(size) +
           " bytes, the file has " + std::to_string(file_.bytes));
  }

  const RemoteFile& file_;
  const FetchOptions& options_;
  PartFile& part_;
};

[[noreturn]] void GiveUp(const RemoteFile& file, const HttpOutcome& outcome,
                         int64_t size) {
  const std::string why = outcome.end == HttpEnd::kDone
                              ? "the answer ends too early"
                              : outcome.message;
  const std::string kept = size == 0 ? ""
                                     : " (" + std::to_string(size) + " of " +
                                           std::to_string(file.bytes) +
                                           " bytes came and are kept)";
  throw DataError("cannot fetch " + file.url + ": " + why + kept);
}

}  // namespace

std::string AddressOf(const std::string& url, const std::string& base) {
  if (base.empty()) return url;
  const std::string name = url.substr(url.rfind('/') + 1);
  return base.ends_with('/') ? base + name : base + "/" + name;
}

std::string WhyNotBase(const std::string& base) {
  if (base.empty()) return {};
  if (!base.starts_with("http://") && !base.starts_with("https://")) {
    return "it must begin with http:// or https://";
  }
  for (const char c : base) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte >= 0x7F) return "it holds a blank or no ASCII";
  }
  // Messages name the address.
  if (base.find('@') != std::string::npos) {
    return "it must hold no name or password";
  }
  if (base.find_first_of("?#") != std::string::npos) {
    return "it must end before any ? or #";
  }
  return {};
}

void Download(const RemoteFile& file, const FetchOptions& options,
              PartFile& part) {
  const auto deadline = std::chrono::steady_clock::now() + options.limits.total;
  PartReceiver receiver(file, options, part);
  if (part.size() > file.bytes) part.Clear();
  int64_t furthest = part.size();
  std::chrono::milliseconds pause = options.limits.pause;
  for (int tries = 0; part.size() < file.bytes;) {
    RequireSpace(part.path().parent_path(), file.bytes - part.size(),
                 file.name);
    const HttpOutcome outcome = HttpGet(
        file.url, part.size(), options.limits.http, options.stop, receiver);
    if (outcome.end == HttpEnd::kStopped) throw FetchStopped();
    if (part.size() == file.bytes) return;
    if (outcome.status == kRangeNotSatisfiable && part.size() > 0) {
      part.Clear();
    } else if (outcome.end == HttpEnd::kRefused) {
      throw DataError("cannot fetch " + file.url + ": " + outcome.message);
    }
    ++tries;
    if (part.size() > furthest) {
      furthest = part.size();
      tries = 0;
      pause = options.limits.pause;
    }
    if (tries >= options.limits.tries ||
        std::chrono::steady_clock::now() > deadline) {
      GiveUp(file, outcome, part.size());
    }
    Rest(pause, options.stop);
    pause = std::min(pause * 2, std::chrono::milliseconds(60'000));
  }
}

}  // namespace leadline::dataset
