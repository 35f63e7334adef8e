// Reads what a trainer printed, a piece at a time.

#pragma once

#include <filesystem>

#include "leadline/v1/worker_service.pb.h"

namespace leadline::agent {

/// At most 64 KiB from `offset` of stream "stdout", "stderr" or "events" of an
/// attempt in this state folder. What is asked for may be nonsense: then the
/// reply says so in `error`.
v1::LogReply ReadLog(const std::filesystem::path& state,
                     const v1::ReadLogOrder& order);

}  // namespace leadline::agent
