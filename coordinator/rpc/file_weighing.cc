#include "coordinator/rpc/file_weighing.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace leadline::rpc {

FileWeighing::FileWeighing(std::map<control::SessionId, std::string> asked,
                           std::vector<NodeKept> known, Weighed weighed)
    : open_(std::move(asked)),
      kept_(std::move(known)),
      weighed_(std::move(weighed)) {}

void FileWeighing::Start(std::chrono::milliseconds patience) {
  {
    const std::lock_guard lock(mutex_);
    // gRPC keeps the function as long as the alarm: it must not keep us.
    if (weighed_) {
      alarm_.Set(std::chrono::system_clock::now() + patience,
                 [weak = weak_from_this()](bool) {
                   if (const auto self = weak.lock()) self->GiveUp();
                 });
    }
  }
  FinishIfAnswered();
}

void FileWeighing::Answer(control::SessionId session, const KeptSize& size) {
  // Of another machine: no number is below none.
  Note(session, {"",
                 {std::max<int64_t>(size.attempts, 0),
                  std::max<int64_t>(size.checkpoints, 0),
                  std::max<int64_t>(size.bytes, 0), size.at_least},
                 ""});
}

void FileWeighing::Lose(control::SessionId session) {
  Note(session, {"", {}, "it went away before it answered"});
}

void FileWeighing::Note(control::SessionId session, NodeKept kept) {
  {
    const std::lock_guard lock(mutex_);
    const auto asked = open_.find(session);
    if (asked == open_.end()) return;
    kept.node = std::move(asked->second);
    open_.erase(asked);
    kept_.push_back(std::move(kept));
  }
  FinishIfAnswered();
}

void FileWeighing::GiveUp() {
  {
    const std::lock_guard lock(mutex_);
    for (auto& [session, node] : open_) {
      kept_.push_back({std::move(node), {}, "it has not answered in time"});
    }
    open_.clear();
  }
  FinishIfAnswered();
}

void FileWeighing::FinishIfAnswered() {
  Weighed weighed;
  std::vector<NodeKept> kept;
  {
    const std::lock_guard lock(mutex_);
    if (!open_.empty() || !weighed_) return;
    weighed = std::exchange(weighed_, nullptr);
    kept = std::move(kept_);
  }
  alarm_.Cancel();
  std::sort(kept.begin(), kept.end(),
            [](const auto& a, const auto& b) { return a.node < b.node; });
  weighed(std::move(kept));
}

}  // namespace leadline::rpc
