// Takes one file out of a zip archive.

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace leadline::dataset {

/// Passes on the content of the entry of that very name, whatever else the
/// archive holds; nothing is ever written under a name of the archive's.
/// Throws DataError unless the entry is there, has exactly `bytes` bytes, and
/// its checksum holds; at most `bytes` bytes are passed on.
void Unzip(const std::filesystem::path& archive, const std::string& entry,
           int64_t bytes, const std::function<void(std::string_view)>& take);

}  // namespace leadline::dataset
