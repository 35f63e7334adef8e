#include "coordinator/rpc/watchers.h"

#include <utility>

#include "coordinator/rpc/status.h"
#include "coordinator/rpc/sweep_convert.h"

namespace leadline::rpc {

void WatchStream::Tell(const control::ProgressReport& report) {
  v1::Progress message;
  {
    const std::lock_guard lock(told_mutex_);
    message = ToProto(report, told_);
    if (!report.failures.empty()) told_ = report.failures.back().number;
  }
  const bool is_last = message.ended();
  Send(std::move(message));
  if (is_last) Close(grpc::Status::OK);
}

void WatchStream::Ended() { owner_.Remove(this); }

void Watchers::Add(SweepId sweep, std::shared_ptr<WatchStream> stream) {
  const std::lock_guard lock(mutex_);
  if (!stream->gone_) streams_[sweep].push_back(std::move(stream));
}

bool Watchers::IsWatched(SweepId sweep) {
  const std::lock_guard lock(mutex_);
  return streams_.contains(sweep);
}

void Watchers::Publish(const control::ProgressReport& report) {
  for (const auto& stream : Of(report.sweep)) stream->Tell(report);
}

void Watchers::CloseAll(const absl::Status& status) {
  std::vector<std::shared_ptr<WatchStream>> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [sweep, streams] : streams_) {
      all.insert(all.end(), streams.begin(), streams.end());
    }
  }
  for (const auto& stream : all) stream->Close(ToGrpc(status));
}

void Watchers::Remove(WatchStream* stream) {
  const std::lock_guard lock(mutex_);
  stream->gone_ = true;
  for (auto at = streams_.begin(); at != streams_.end();) {
    std::erase_if(at->second,
                  [&](const auto& other) { return other.get() == stream; });
    at = at->second.empty() ? streams_.erase(at) : std::next(at);
  }
}

std::vector<std::shared_ptr<WatchStream>> Watchers::Of(SweepId sweep) {
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(sweep);
  if (found == streams_.end()) return {};
  return found->second;
}

}  // namespace leadline::rpc
