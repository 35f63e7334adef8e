// A file that is there whole or not at all.

#pragma once

#include <filesystem>
#include <string_view>

namespace leadline::dataset {

/// Writes beside `path` under a name of its own, syncs, and renames over
/// `path`. Readers see the old file or the new one. Throws std::system_error
/// and leaves nothing behind.
void WriteWholeFile(const std::filesystem::path& path, std::string_view bytes);

}  // namespace leadline::dataset
