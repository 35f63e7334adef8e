#include "coordinator/rpc/data_inspector.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include <absl/cleanup/cleanup.h>
#include <absl/status/status.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/sha256.h"
#include "model/spec/dataset_limit.h"

namespace leadline::rpc {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;

absl::Status Refused(const std::string& path) {
  return absl::InvalidArgumentError("cannot read " + path + ": " +
                                    std::strerror(errno));
}

}  // namespace

absl::StatusOr<spec_reader::DataFacts> InspectData(
    const std::string& path, const std::stop_token& stop) {
  // A pipe must not hold us until someone writes to it.
  const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return Refused(path);
  const absl::Cleanup close_file = [file] { close(file); };
  struct stat about {};
  if (fstat(file, &about) != 0) return Refused(path);
  if (!S_ISREG(about.st_mode)) {
    return absl::InvalidArgumentError(path + " is no regular file");
  }
  if (about.st_size > spec::kMostDatasetBytes) {
    return absl::InvalidArgumentError(path + " has " +
                                      std::to_string(about.st_size) +
                                      " bytes; a data set may have " +
                                      std::to_string(spec::kMostDatasetBytes));
  }
  Sha256 hash;
  std::vector<char> chunk(kChunkBytes);
  while (true) {
    if (stop.stop_requested()) {
      return absl::UnavailableError("the coordinator is ending");
    }
    const ssize_t size = read(file, chunk.data(), chunk.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return Refused(path);
    if (size == 0) break;
    hash.Add({chunk.data(), static_cast<size_t>(size)});
  }
  return spec_reader::DataFacts{hash.Finish(), std::nullopt};
}

}  // namespace leadline::rpc
