// The commands that are attached: what keeps a private coordinator alive, and
// whether any of them waits for work.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>

#include "coordinator/rpc/stream.h"
#include "leadline/v1/sweep_service.pb.h"

namespace leadline::rpc {

struct Demand {
  int64_t clients = 0;
  int64_t wanting_work = 0;
  int64_t slots = 0;  // the last client that wants work asked for; 0: any

  bool operator==(const Demand&) const = default;
};

/// Thread-safe.
class Attachments {
 public:
  /// `greeting` is the first message of every stream. `changed` hears of each
  /// client that comes or goes, in order, and must not block.
  Attachments(v1::AttachReply greeting,
              std::function<void(const Demand&)> changed);

  grpc::ServerWriteReactor<v1::AttachReply>* Open(
      const v1::AttachRequest& request);

  /// From now on clients are turned away, those that are here too.
  void CloseAll(const absl::Status& status);

  /// Turns clients away from now on, if none is here; false if one is. A client
  /// that was greeted can so rely on a coordinator that stays.
  bool CloseIfUnused(const absl::Status& status);

 private:
  class Attachment;
  void Remove(const Attachment* attachment);
  void Report() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const v1::AttachReply greeting_;
  const std::function<void(const Demand&)> changed_;
  std::mutex mutex_;
  std::map<const Attachment*, std::shared_ptr<Attachment>> open_
      ABSL_GUARDED_BY(mutex_);
  int64_t slots_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status closed_ ABSL_GUARDED_BY(mutex_);  // OK while clients may come
};

}  // namespace leadline::rpc
