// Fetches one file over HTTP into its .part file, going on where an earlier
// attempt was cut.

#pragma once

#include <cstdint>
#include <string>

#include "worker/dataset/fetch/fetch_options.h"
#include "worker/dataset/fetch/part_file.h"

namespace leadline::dataset {

struct RemoteFile {
  std::string url;
  std::string name;  // without a folder
  int64_t bytes = 0;
  std::string hash;  // SHA-256, or "md5:" and the MD5
};

/// "http://host/dir" and the last part of `url`, or `url` itself where the base
/// is empty.
std::string AddressOf(const std::string& url, const std::string& base);

/// Empty if `base` can stand before a file's name; else what is wrong.
std::string WhyNotBase(const std::string& base);

/// Fills `part` up to `file.bytes` bytes; their hash is the caller's to check.
/// Throws DataError (why it cannot be had), FetchStopped, std::system_error
/// (the disk). What came is kept in `part` but for an answer of another size,
/// of which nothing is written.
void Download(const RemoteFile& file, const FetchOptions& options,
              PartFile& part);

}  // namespace leadline::dataset
