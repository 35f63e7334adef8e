// Finds data for attempts: what must be fetched on a thread of its own for each
// data set, all else one after the other on one more.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>

#include "common/ids.h"
#include "worker/agent/data_finder.h"
#include "worker/agent/mailbox.h"

namespace leadline::agent {

/// The path of an attempt's data, or why there is none.
struct DataFound {
  AttemptKey attempt;
  absl::StatusOr<std::string> path;
};

/// What is being done about it meanwhile.
struct DataNews {
  AttemptKey attempt;
  std::string message;
};

/// Who looks for data.
class DataRequests {
 public:
  virtual ~DataRequests() = default;

  /// Is answered later, by a DataFound; maybe by DataNews before.
  virtual void Find(const AttemptKey& attempt, v1::Dataset dataset) = 0;

  /// The answer is not needed any more.
  virtual void Forget(const AttemptKey&) {}
};

/// Its functions are called from one thread.
class DataThread final : public DataRequests {
 public:
  /// The sinks are called from threads of this.
  DataThread(FindData find, std::function<void(DataFound)> sink,
             std::function<void(DataNews)> news);
  /// Stops what is being done.
  ~DataThread() override;

  /// Answers through the sink.
  void Find(const AttemptKey& attempt, v1::Dataset dataset) override;

  /// A fetch ends, and what came is kept.
  void Forget(const AttemptKey& attempt) override;

 private:
  struct Request {
    AttemptKey attempt;
    v1::Dataset dataset;
    std::stop_token stop;
  };

  struct Lane {
    explicit Lane(DataThread& owner);
    ~Lane();
    Mailbox<Request> requests;
    std::jthread thread;
  };

  void Answer(const Request& request);
  absl::StatusOr<std::string> TryToFind(
      const Request& request,
      const std::function<void(const std::string&)>& tell);

  FindData find_;
  std::function<void(DataFound)> sink_;
  std::function<void(DataNews)> news_;
  std::mutex mutex_;
  std::map<AttemptKey, std::stop_source> stops_ ABSL_GUARDED_BY(mutex_);
  // By data set, "" for those that are not fetched. Last: they use all above.
  std::map<std::string, std::unique_ptr<Lane>> lanes_;
};

}  // namespace leadline::agent
