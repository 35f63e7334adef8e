#include "worker/trainer/agreement.h"

#include <string>
#include <utility>

namespace leadline::trainer {
namespace {

constexpr int64_t kKinds = 64;

/// A stop without its words; 0 is none.
int64_t CodeOf(const StopRequest& request) {
  return 1 + static_cast<int64_t>(request.outcome) * kKinds +
         (request.kind ? 1 + static_cast<int64_t>(*request.kind) : 0);
}

StopRequest RequestOf(int64_t code, int64_t rank) {
  StopRequest request;
  request.outcome = static_cast<AttemptOutcome>((code - 1) / kKinds);
  const int64_t kind = (code - 1) % kKinds;
  if (kind > 0) request.kind = static_cast<FailureKind>(kind - 1);
  request.message = "rank " + std::to_string(rank) + " was asked to stop";
  if (request.kind) request.message += ": " + std::string(Name(*request.kind));
  return request;
}

}  // namespace

Agreement::Agreement(collective::Communicator& communicator,
                     RunControl& control, int64_t replicas)
    : communicator_(communicator), control_(control), replicas_(replicas) {}

void Agreement::BeforeStep(bool wants_checkpoint) {
  if (communicator_.size() == 1) return control_.Heed();
  if (!operation_ && stops_.empty()) Begin(false);  // the first step
  End();
  HeedOthers();
  Begin(wants_checkpoint);
}

std::vector<int64_t> Agreement::TakeDrops() {
  if (communicator_.size() == 1) return control_.TakeDrops();
  return std::exchange(drops_, {});
}

bool Agreement::CheckpointIsDue() {
  End();
  return std::exchange(checkpoint_, false);
}

void Agreement::Breathe() {
  if (communicator_.size() == 1) return control_.Heed();
  End();
  HeedOthers();
  Begin(false);
  End();
  HeedOthers();
}

void Agreement::Begin(bool wants_checkpoint) {
  const int64_t ranks = communicator_.size();
  asked_ = torch::zeros({ranks + replicas_ + 1}, torch::kInt64);
  auto values = asked_.accessor<int64_t, 1>();
  if (const auto request = control_.Asked()) {
    values[communicator_.rank()] = CodeOf(*request);
  }
  for (const int64_t replica : control_.TakeDrops()) {
    if (replica >= 0 && replica < replicas_) values[ranks + replica] = 1;
  }
  values[ranks + replicas_] = wants_checkpoint ? 1 : 0;
  operation_ = communicator_.StartAllReduce(asked_);
}

void Agreement::End() {
  if (!operation_) return;
  communicator_.Wait(*std::exchange(operation_, std::nullopt));
  const int64_t ranks = communicator_.size();
  const auto values = asked_.accessor<int64_t, 1>();
  stops_.assign(static_cast<size_t>(ranks), 0);
  for (int64_t rank = 0; rank < ranks; ++rank) {
    stops_[static_cast<size_t>(rank)] = values[rank];
  }
  for (int64_t replica = 0; replica < replicas_; ++replica) {
    if (values[ranks + replica] > 0) drops_.push_back(replica);
  }
  if (values[ranks + replicas_] > 0) checkpoint_ = true;
}

void Agreement::HeedOthers() const {
  for (size_t rank = 0; rank < stops_.size(); ++rank) {
    if (stops_[rank] != 0) Stop(stops_[rank], static_cast<int64_t>(rank));
  }
}

// Its own words are better than those of another.
void Agreement::Stop(int64_t code, int64_t rank) const {
  const auto own = control_.Asked();
  if (own && CodeOf(*own) == code) throw Stopped{*own};
  throw Stopped{RequestOf(code, rank)};
}

}  // namespace leadline::trainer
