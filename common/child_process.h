// Starting programs of ours: a child gets what it is given, and nothing else.

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <variant>
#include <vector>

#include <sys/types.h>

namespace leadline {

/// Written at its end; made with mode 0600 where there is none.
struct OutputFile {
  std::filesystem::path path;
  bool is_new = false;  // that there is one already is an error
};

/// A file, or a descriptor of ours.
using ChildOutput = std::variant<OutputFile, int>;

/// What a child leads: its id is that of its process group, too, by which all
/// that it starts can be signalled.
enum class Leads { kGroup, kSession };

struct ChildProgram {
  std::vector<std::string> arguments;  // the program's path first
  std::optional<std::vector<std::string>> environment = {};  // unset: ours
  std::optional<std::filesystem::path> folder = {};  // it works in; unset: ours
  ChildOutput output;
  ChildOutput errors;
  Leads leads = Leads::kSession;
};

/// Sets its process id. The child reads from /dev/null, has no other descriptor
/// of ours, and blocks and ignores no signal. The error is the system's errno.
std::error_code StartChild(const ChildProgram& program, pid_t& pid);

}  // namespace leadline
