// Who follows which sweep.

#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>

#include "coordinator/control/outcome.h"
#include "coordinator/rpc/stream.h"
#include "leadline/v1/sweep_service.pb.h"

namespace leadline::rpc {

class Watchers;

class WatchStream final : public ServerStream<v1::Progress> {
 public:
  explicit WatchStream(Watchers& owner) : owner_(owner) {}

  /// Sends the report, and ends the stream if it is the last.
  void Tell(const control::ProgressReport& report);

 private:
  void Ended() override;

  friend class Watchers;

  Watchers& owner_;
  bool gone_ = false;  // guarded by the owner's mutex
  std::mutex told_mutex_;
  int64_t told_ ABSL_GUARDED_BY(told_mutex_) = 0;  // number of a failure
};

/// Thread-safe.
class Watchers {
 public:
  /// Nothing happens if the stream has ended already.
  void Add(SweepId sweep, std::shared_ptr<WatchStream> stream);
  bool IsWatched(SweepId sweep);
  void Publish(const control::ProgressReport& report);
  void CloseAll(const absl::Status& status);

 private:
  friend class WatchStream;
  void Remove(WatchStream* stream);
  std::vector<std::shared_ptr<WatchStream>> Of(SweepId sweep);

  std::mutex mutex_;
  std::map<SweepId, std::vector<std::shared_ptr<WatchStream>>> streams_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace leadline::rpc
