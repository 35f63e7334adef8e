#include "worker/agent/proc_stat.h"

#include <charconv>
#include <filesystem>
#include <sstream>

#include "worker/agent/system_file.h"

namespace leadline::agent {
namespace {

std::optional<pid_t> ParsePid(std::string_view text) {
  pid_t pid = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc() || end != text.data() + text.size() || pid <= 0) {
    return std::nullopt;
  }
  return pid;
}

}  // namespace

std::optional<ProcStat> ParseProcStat(std::string_view text) {
  const size_t open = text.find(" (");
  const size_t close = text.rfind(") ");
  if (open == std::string_view::npos || close == std::string_view::npos ||
      close < open) {
    return std::nullopt;
  }
  ProcStat stat;
  const auto pid = ParsePid(text.substr(0, open));
  if (!pid) return std::nullopt;
  stat.pid = *pid;
  std::istringstream rest{std::string(text.substr(close + 2))};
  std::string skipped;
  uint64_t user_ticks = 0;
  uint64_t system_ticks = 0;
  rest >> stat.state >> stat.parent >> stat.group;
  for (int field = 6; field <= 13; ++field) rest >> skipped;
  rest >> user_ticks >> system_ticks;  // fields 14 and 15
  for (int field = 16; field <= 21; ++field) rest >> skipped;
  rest >> stat.start_time;  // field 22
  stat.cpu_ticks = user_ticks + system_ticks;
  if (!rest) return std::nullopt;
  return stat;
}

std::optional<ProcStat> ReadProcStat(pid_t pid) {
  return ParseProcStat(
      ReadSystemFile("/proc/" + std::to_string(pid) + "/stat"));
}

std::vector<ProcStat> ListProcesses() {
  std::vector<ProcStat> found;
  std::error_code error;
  std::filesystem::directory_iterator entry("/proc", error);
  for (; !error && entry != std::filesystem::directory_iterator();
       entry.increment(error)) {
    const auto pid = ParsePid(entry->path().filename().string());
    if (!pid) continue;
    if (const auto stat = ReadProcStat(*pid)) found.push_back(*stat);
  }
  return found;
}

bool WasStartedWith(pid_t pid, std::string_view variable) {
  const std::string text =
      '\0' + ReadSystemFile("/proc/" + std::to_string(pid) + "/environ");
  const std::string wanted = '\0' + std::string(variable) + '\0';
  return text.find(wanted) != std::string::npos;
}

std::optional<std::string> StartedWith(pid_t pid, std::string_view name) {
  const std::string text =
      '\0' + ReadSystemFile("/proc/" + std::to_string(pid) + "/environ");
  const std::string wanted = '\0' + std::string(name) + '=';
  const size_t found = text.find(wanted);
  if (found == std::string::npos) return std::nullopt;
  const size_t begin = found + wanted.size();
  const size_t end = text.find('\0', begin);
  // One that is cut off says nothing.
  if (end == std::string::npos) return std::nullopt;
  return text.substr(begin, end - begin);
}

std::string ReadBootId() {
  std::string text = ReadSystemFile("/proc/sys/kernel/random/boot_id");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

bool SeesTrueProcessIds() {
  // The first namespace of process ids has this number on every Linux.
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/ns/pid", error).string() ==
         "pid:[4026531836]";
}

}  // namespace leadline::agent
