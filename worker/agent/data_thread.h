// Finds data for attempts, one after the other, on a thread of its own.

#pragma once

#include <functional>
#include <string>
#include <thread>

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

/// Who looks for data.
class DataRequests {
 public:
  virtual ~DataRequests() = default;

  /// Is answered later, by a DataFound.
  virtual void Find(const AttemptKey& attempt, v1::Dataset dataset) = 0;
};

/// Thread-safe.
class DataThread final : public DataRequests {
 public:
  /// `sink` is called from the thread.
  DataThread(FindData find, std::function<void(DataFound)> sink);
  ~DataThread() override;

  /// Answers through `sink`.
  void Find(const AttemptKey& attempt, v1::Dataset dataset) override;

 private:
  struct Request {
    AttemptKey attempt;
    v1::Dataset dataset;
  };

  FindData find_;
  std::function<void(DataFound)> sink_;
  Mailbox<Request> requests_;
  std::jthread thread_;
};

}  // namespace leadline::agent
