#include "worker/agent/oom_evidence.h"

#include <cerrno>
#include <cstdlib>
#include <sstream>

#include <fcntl.h>
#include <unistd.h>

#include "worker/agent/file_descriptor.h"
#include "worker/agent/system_file.h"

namespace leadline::agent {
namespace {

constexpr size_t kMostLogBytes = 4 << 20;

/// "5:cpu,memory:/a/b" is the line of version 1, "0::/a/b" that of version 2.
std::optional<std::string> GroupPath(std::string_view controller) {
  std::istringstream text(ReadSystemFile("/proc/self/cgroup"));
  for (std::string line; std::getline(text, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names =
        ',' + line.substr(first + 1, second - first - 1) + ',';
    const std::string wanted = ',' + std::string(controller) + ',';
    if (names.find(wanted) != std::string::npos) return line.substr(second + 1);
  }
  return std::nullopt;
}

}  // namespace

std::optional<int64_t> CountOf(std::string_view text, std::string_view name) {
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    int64_t value = 0;
    if (words >> word >> value && word == name) return value;
  }
  return std::nullopt;
}

int64_t CountOomKills() {
  if (const auto path = GroupPath("")) {
    const std::string text =
        ReadSystemFile("/sys/fs/cgroup" + *path + "/memory.events");
    if (const auto count = CountOf(text, "oom_kill")) return *count;
  }
  if (const auto path = GroupPath("memory")) {
    const std::string text =
        ReadSystemFile("/sys/fs/cgroup/memory" + *path + "/memory.oom_control");
    if (const auto count = CountOf(text, "oom_kill")) return *count;
  }
  return CountOf(ReadSystemFile("/proc/vmstat"), "oom_kill").value_or(0);
}

bool NamesOomKill(std::string_view kernel_log, pid_t pid, double since_s) {
  // "6,339,5140900,-;Out of memory: Killed process 77 (name) ...", the third
  // number in microseconds; "Memory cgroup out of memory: Killed process ...".
  std::istringstream lines{std::string(kernel_log)};
  const std::string wanted = "Killed process " + std::to_string(pid) + " ";
  for (std::string line; std::getline(lines, line);) {
    if (line.find("ut of memory: " + wanted) == std::string::npos) continue;
    const size_t first = line.find(',');
    const size_t second = line.find(',', first + 1);
    if (second == std::string::npos) continue;
    const double at_s = std::strtod(line.c_str() + second + 1, nullptr) / 1e6;
    if (at_s >= since_s) return true;
  }
  return false;
}

std::string ReadKernelLog() {
  const FileDescriptor file(
      open("/dev/kmsg", O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::string text;
  if (!file) return text;
  char record[8192];
  while (text.size() < kMostLogBytes) {
    const ssize_t got = read(file.get(), record, sizeof record);
    // EPIPE: the oldest was overwritten while we read; the next is there.
    if (got < 0 && (errno == EPIPE || errno == EINTR)) continue;
    if (got <= 0) break;
    text.append(record, static_cast<size_t>(got));
    if (text.back() != '\n') text += '\n';
  }
  return text;
}

}  // namespace leadline::agent
