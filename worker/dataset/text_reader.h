// Reads a file once: hashed and decoded from the same bytes, so that what is
// trained on is what the hash says.

#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace leadline::dataset {

/// The hash of a file's content, in the form and by the algorithm of `like`:
/// SHA-256 in lower-case hexadecimal, or "md5:" and the MD5. `take` gets the
/// bytes in order. Throws DataError, naming the file, if it cannot be read or
/// is no regular file.
std::string ReadAndHash(const std::filesystem::path& path,
                        std::string_view like,
                        const std::function<void(std::string_view)>& take);

/// As above, the bytes going nowhere.
std::string HashFile(const std::filesystem::path& path, std::string_view like);

}  // namespace leadline::dataset
