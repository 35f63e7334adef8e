// The streams that are open: how many each caller holds, and how to end those
// whose token is no longer good. Other calls are short, and were let in.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <absl/base/thread_annotations.h>

namespace leadline::access {

/// Thread-safe.
class OpenStreams {
 public:
  struct Stream {
    std::string caller;            // who, as limits are counted by
    std::optional<int64_t> token;  // by which it came in
    bool is_agent = false;
    std::function<void()> end;  // must not block; may remove its stream
  };

  /// A number to remove it by.
  int64_t Add(Stream stream);
  void Remove(int64_t number);

  /// Those a caller holds, and all that are not of agents.
  int64_t StreamsOf(const std::string& caller) const;
  int64_t StreamsOfReaders() const;

  /// Ends those whose token `is_valid` denies. How many.
  int64_t EndWithout(const std::function<bool(int64_t token)>& is_valid);

 private:
  std::vector<int64_t> Without(
      const std::function<bool(int64_t token)>& is_valid) const;
  bool End(int64_t number);

  // Ending one may be the last that is heard of it, in the same thread.
  mutable std::recursive_mutex mutex_;
  std::map<int64_t, Stream> streams_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, int64_t> of_caller_ ABSL_GUARDED_BY(mutex_);
  int64_t of_readers_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t last_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace leadline::access
