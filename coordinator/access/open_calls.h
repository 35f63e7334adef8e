// The calls that are open: how many streams each caller holds, and how to end
// those whose token is no longer good.

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
class OpenCalls {
 public:
  struct Call {
    std::string caller;            // who, as limits are counted by
    std::optional<int64_t> token;  // by which it came in
    bool is_agent = false;
    bool is_stream = false;
    std::function<void()> end;  // must not block; may remove its call
  };

  /// A number to remove it by.
  int64_t Add(Call call);
  void Remove(int64_t number);

  /// Streams a caller holds, and all that are not of agents.
  int64_t StreamsOf(const std::string& caller) const;
  int64_t StreamsOfReaders() const;

  /// Ends those whose token `is_valid` denies. How many.
  int64_t EndWithout(const std::function<bool(int64_t token)>& is_valid);

 private:
  std::vector<int64_t> Without(
      const std::function<bool(int64_t token)>& is_valid) const;
  bool End(int64_t number);

  // Ending a call may be the last that is heard of it, in the same thread.
  mutable std::recursive_mutex mutex_;
  std::map<int64_t, Call> calls_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, int64_t> streams_ ABSL_GUARDED_BY(mutex_);
  int64_t streams_of_readers_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t last_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace leadline::access
