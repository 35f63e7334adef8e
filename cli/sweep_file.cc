#include "cli/sweep_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/descriptor.h"
#include "cli/exit_code.h"
#include "cli/problems.h"
#include "cli/text.h"
#include "common/user_name.h"

namespace leadline::cli {
namespace {

namespace fs = std::filesystem;

// Messages stay under 1 MiB.
constexpr size_t kLargest = 1'000'000;

absl::Status Unreadable(const std::string& path, const std::string& why) {
  return At(absl::InvalidArgumentError(
                fmt::format("cannot read the sweep file {}: {}", path, why)),
            path);
}

absl::StatusOr<std::string> ReadText(const std::string& path) {
  const bool is_input = path == "-";
  const Descriptor opened(is_input ? -1
                                   : open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!is_input && !opened.is_open()) {
    return Unreadable(path, std::strerror(errno));
  }
  const int file = is_input ? STDIN_FILENO : opened.number();
  std::string text;
  std::array<char, 1 << 16> part;
  while (text.size() <= kLargest) {
    const ssize_t size = read(file, part.data(), part.size());
    if (size == 0) return text;
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return Unreadable(path, std::strerror(errno));
    text.append(part.data(), static_cast<size_t>(size));
  }
  return Unreadable(path, fmt::format("it is larger than {} bytes", kLargest));
}

absl::Status CheckUtf8(const std::string& text, const std::string& path) {
  size_t bad = 0;
  if (IsUtf8(text, &bad)) return absl::OkStatus();
  const std::string_view before = std::string_view(text).substr(0, bad);
  const size_t line_start = before.rfind('\n') + 1;
  Problem problem;
  problem.file = path;
  problem.line = std::count(before.begin(), before.end(), '\n') + 1;
  problem.column = 1 + std::count_if(before.begin() + line_start, before.end(),
                                     [](char c) { return (c & 0xc0) != 0x80; });
  problem.message = fmt::format("found the byte 0x{:02x}, expected UTF-8 text",
                                static_cast<unsigned char>(text[bad]));
  return ProblemsError({problem});
}

std::string OwnName() {
  std::string name = UserName(geteuid());
  size_t bad = 0;
  return IsUtf8(name, &bad) ? name : "";
}

}  // namespace

absl::StatusOr<v1::SubmitRequest> ReadSweepFile(const std::string& path) {
  auto text = ReadText(path);
  if (!text.ok()) return text.status();
  const std::string shown =
      path == "-" ? "standard input" : Printable(path, Charset::kUtf8);
  if (absl::Status status = CheckUtf8(*text, shown); !status.ok()) {
    return status;
  }
  std::error_code error;
  const fs::path folder = path == "-" ? fs::current_path(error)
                                      : fs::absolute(path, error).parent_path();
  size_t bad = 0;
  if (error || !IsUtf8(folder.string(), &bad)) {
    return Unreadable(
        path, error ? error.message() : "its folder's name is not UTF-8");
  }
  v1::SubmitRequest request;
  request.set_text(*std::move(text));
  request.set_file(shown);
  request.set_base_folder(folder.string());
  request.set_request_id(FreshRequestId());
  request.set_user(OwnName());
  return request;
}

std::string FreshRequestId() {
  std::array<uint64_t, 2> bits{};
  // Small requests of the kernel's generator never fail after boot.
  while (getentropy(bits.data(), sizeof bits) != 0) continue;
  return fmt::format("{:016x}{:016x}", bits[0], bits[1]);
}

}  // namespace leadline::cli
