#include "worker/agent/log_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>

#include "worker/agent/attempt_folder.h"
#include "worker/agent/attempt_message.h"
#include "worker/agent/file_descriptor.h"
#include "worker/agent/hold_record.h"

namespace leadline::agent {
namespace {

constexpr int64_t kMostBytes = 64 << 10;

const char* FileOf(const std::string& stream) {
  if (stream == "stdout") return "stdout.log";
  if (stream == "stderr" || stream.empty()) return "stderr.log";
  if (stream == "events") return "events.jsonl";
  return nullptr;
}

// Of an attempt that is held, its trainer has not begun to write.
void TellMissing(const std::filesystem::path& path, v1::LogReply& reply) {
  std::error_code error;
  const std::filesystem::path above = path.parent_path().parent_path();
  if (std::filesystem::exists(path.parent_path() / "held.json", error) ||
      std::filesystem::exists(above / "held.json", error)) {
    reply.set_at_end(true);
    return;
  }
  reply.set_error(path.filename().string() + " of " +
                  path.parent_path().filename().string() +
                  " is not there: its trainer never started, or the file was "
                  "removed by age or size (--keep-days and --keep-mb of the "
                  "agent)");
}

void ReadPiece(const std::filesystem::path& path, const v1::ReadLogOrder& order,
               v1::LogReply& reply) {
  const FileDescriptor file(
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info {};
  if (!file && errno == ENOENT) return TellMissing(path, reply);
  if (!file || fstat(file.get(), &info) != 0) {
    reply.set_error("cannot read " + path.filename().string() + ": " +
                    std::strerror(errno));
    return;
  }
  const int64_t limit = std::clamp<int64_t>(
      order.limit() > 0 ? order.limit() : kMostBytes, 1, kMostBytes);
  std::string data(static_cast<size_t>(limit), '\0');
  const ssize_t got =
      pread(file.get(), data.data(), data.size(), order.offset());
  if (got < 0) {
    reply.set_error(std::string("cannot read the log: ") +
                    std::strerror(errno));
    return;
  }
  data.resize(static_cast<size_t>(got));
  reply.set_at_end(order.offset() + got >= info.st_size);
  reply.set_size(info.st_size);
  reply.set_data(std::move(data));
}

}  // namespace

v1::LogReply ReadLog(const std::filesystem::path& state,
                     const v1::ReadLogOrder& order) {
  v1::LogReply reply;
  reply.set_request(order.request());
  const auto attempt = FromMessage(order.attempt());
  const char* file = FileOf(order.stream());
  if (!attempt || file == nullptr || order.offset() < 0) {
    reply.set_error("no such log");
    return reply;
  }
  const auto folder = AttemptFolder(state, *attempt);
  const auto of_rank = FindRankFolder(folder, order.rank());
  if (of_rank == folder && order.rank() > 0) {
    const auto hold = ReadHoldOrTold(folder);
    if (!hold || hold->first_rank != order.rank()) {
      reply.set_error("rank " + std::to_string(order.rank()) + " of " +
                      ToText(*attempt) + " did not run here");
      return reply;
    }
  }
  ReadPiece(of_rank / file, order, reply);
  return reply;
}

}  // namespace leadline::agent
