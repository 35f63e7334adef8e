// File systems that keep no promise of locks and shared memory: those of other
// machines, and those a program answers for.

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace leadline {

/// The number by which Linux tells file systems apart (statfs, f_type); null
/// where it cannot be asked.
using FileSystemType =
    std::function<std::optional<int64_t>(const std::filesystem::path&)>;

/// Of the path, or of the nearest folder above it that exists.
std::optional<int64_t> ReadFileSystemType(const std::filesystem::path& path);

/// "nfs", "smb", "fuse"; null for those of this machine, and those unknown.
std::optional<std::string> NetworkFileSystemName(int64_t type);

/// Why `folder` must not hold a program's state, and what to do; empty if it
/// may.
std::string WhyNotForState(const std::filesystem::path& folder,
                           const FileSystemType& type = ReadFileSystemType);

}  // namespace leadline
