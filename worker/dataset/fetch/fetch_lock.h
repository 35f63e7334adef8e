// One process fetches a file, the others wait for it.

#pragma once

#include <filesystem>
#include <functional>

#include "worker/dataset/fetch/fetch_options.h"

namespace leadline::dataset {

/// Holds the lock of a file until it goes. The system lets it go when the
/// process dies, so the next one takes over.
class FetchLock {
 public:
  /// Waits for it; calls `waiting` at every look that finds it taken. Throws
  /// FetchStopped, std::system_error.
  FetchLock(const std::filesystem::path& path, const FetchOptions& options,
            const std::function<void()>& waiting);
  FetchLock(const FetchLock&) = delete;
  FetchLock& operator=(const FetchLock&) = delete;
  ~FetchLock();

 private:
  int descriptor_;
};

/// Sleeps, unless stopped: then throws FetchStopped.
void Rest(std::chrono::milliseconds time, const std::stop_token& stop);

}  // namespace leadline::dataset
