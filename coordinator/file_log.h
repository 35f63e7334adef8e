// The coordinator's log: lines in a file of bounded size.

#pragma once

#include <filesystem>
#include <memory>

#include <absl/status/statusor.h>

#include "common/log.h"

namespace leadline {

/// `time level event=name key=value ...` a line; values with blanks are quoted.
/// The file is kept below some megabytes, with a few older ones beside it.
absl::StatusOr<std::unique_ptr<Log>> OpenFileLog(
    const std::filesystem::path& path);

/// One line without time and level, as the file gets it.
std::string LogLine(std::string_view event,
                    std::initializer_list<LogField> fields);

}  // namespace leadline
