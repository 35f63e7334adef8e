#include "coordinator/rpc/attachments.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "coordinator/rpc/status.h"

namespace leadline::rpc {

class Attachments::Attachment final : public ServerStream<v1::AttachReply> {
 public:
  Attachment(Attachments& owner, bool wants_work)
      : owner_(owner), wants_work_(wants_work) {}

  bool wants_work() const { return wants_work_; }

 private:
  void Ended() override { owner_.Remove(this); }

  Attachments& owner_;
  const bool wants_work_;
};

Attachments::Attachments(v1::AttachReply greeting,
                         std::function<void(const Demand&)> changed)
    : greeting_(std::move(greeting)), changed_(std::move(changed)) {}

grpc::ServerWriteReactor<v1::AttachReply>* Attachments::Open(
    const v1::AttachRequest& request) {
  auto stream = MakeStream<Attachment>(*this, request.wants_work());
  absl::Status closed;
  {
    const std::lock_guard lock(mutex_);
    closed = closed_;
    if (closed.ok()) {
      open_[stream.get()] = stream;
      if (request.wants_work()) {
        slots_ = std::clamp<int64_t>(request.slots(), 0, 4096);
      }
      Report();
    }
  }
  if (closed.ok()) {
    stream->Send(greeting_);
  } else {
    stream->Close(ToGrpc(closed));
  }
  return stream.get();
}

void Attachments::CloseAll(const absl::Status& status) {
  std::vector<std::shared_ptr<Attachment>> all;
  {
    const std::lock_guard lock(mutex_);
    closed_ = status;
    for (const auto& [key, stream] : open_) all.push_back(stream);
  }
  for (const auto& stream : all) stream->Close(ToGrpc(status));
}

bool Attachments::CloseIfUnused(const absl::Status& status) {
  const std::lock_guard lock(mutex_);
  if (!open_.empty()) return false;
  closed_ = status;
  return true;
}

void Attachments::Remove(const Attachment* attachment) {
  const std::lock_guard lock(mutex_);
  if (open_.erase(attachment) > 0) Report();
}

void Attachments::Report() {
  Demand demand;
  demand.clients = std::ssize(open_);
  demand.wanting_work = std::count_if(
      open_.begin(), open_.end(),
      [](const auto& entry) { return entry.second->wants_work(); });
  demand.slots = slots_;
  changed_(demand);
}

}  // namespace leadline::rpc
