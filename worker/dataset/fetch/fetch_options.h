// How data is fetched, and what whoever waits for it hears.

#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <stop_token>
#include <string>

#include "worker/dataset/fetch/http_get.h"
#include "worker/dataset/fetch/verified_files.h"

namespace leadline::dataset {

struct FetchProgress {
  std::string doing;  // "fetching", "waiting for", "checking", "unpacking"
  std::string file;   // its name, without a folder
  int64_t done = 0;   // bytes
  int64_t total = 0;
};

struct FetchLimits {
  HttpLimits http;
  /// Requests in a row that bring nothing further.
  int tries = 3;
  /// Before the second of them; doubled before each later one.
  std::chrono::milliseconds pause{1000};
  /// Between two looks at a file that another process is fetching.
  std::chrono::milliseconds look{200};
  /// Of all requests for one file.
  std::chrono::seconds total{24 * 3600};
};

struct FetchOptions {
  /// Data lies here; processes may share it.
  std::filesystem::path folder;
  /// Replaces what stands before the file's name in every address, if not
  /// empty.
  std::string base_url;
  FetchLimits limits;
  /// Called often, from the thread that fetches; may be empty.
  std::function<void(const FetchProgress&)> tell;
  std::stop_token stop;
  /// Files in it are not hashed again; may be null.
  VerifiedFiles* verified = nullptr;
};

/// Thrown once `stop` is requested. What came so far is kept.
class FetchStopped : public std::runtime_error {
 public:
  FetchStopped() : std::runtime_error("stopped while data was fetched") {}
};

}  // namespace leadline::dataset
