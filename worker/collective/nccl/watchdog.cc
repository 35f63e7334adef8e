#include <algorithm>
#include <thread>
#include <utility>

#include "worker/collective/nccl/seconds_text.h"
#include "worker/collective/nccl/watched.h"

namespace leadline::collective::nccl {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

void Clique::Watched::Begin() {
  const Lock lock(mutex_);
  std::thread([self = shared_from_this()] { self->Watch(); }).detach();
  watching_ = true;
}

void Clique::Watched::Watch() {
  const auto period =
      std::clamp(options_.limit / 10, milliseconds(1), options_.look_period);
  Lock lock(mutex_);
  while (!stop_) {
    if (failure_) {
      LookAfterOwner(lock);
    } else {
      Look(lock);
    }
    changed_.wait_for(lock, period, [&] { return stop_; });
  }
  watching_ = false;
  changed_.notify_all();
}

void Clique::Watched::Look(Lock& lock) {
  const auto now = steady_clock::now();
  const bool waits = LookAtOthers(now);
  if (!failure_) LookAtDevice(lock, now, waits);
  if (!failure_ && joined_) LookAtNccl(lock);
}

// Returns whether time does not count now.
bool Clique::Watched::LookAtOthers(SteadyTime now) {
  const Ring::Outlook others = ring_.Look();
  const bool waits = others.others_wait || options_.waits();
  const std::string where = Where();
  if (!others.failure.empty()) {
    Fail(where + others.failure);
  } else if (!others.lost.empty() && (!joined_ || !where.empty())) {
    Fail(where + others.lost);
  } else if (in_call_ && waits) {
    call_began_ = now;
  } else if (in_call_ && now - call_began_ > CallLimit()) {
    Fail(where + "a call of NCCL has not returned within " +
         SecondsText(CallLimit()));
  }
  return waits;
}

void Clique::Watched::LookAtDevice(Lock& lock, SteadyTime now, bool waits) {
  while (!pending_.empty()) {
    const Pending first = pending_.front();
    lock.unlock();
    bool begun = first.since.has_value();
    bool done = false;
    std::exception_ptr error;
    try {
      begun = begun || first.begun->IsDone();
      done = begun && first.done->IsDone();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (stop_ || failure_) return;
    if (error) return Fail(Where(first.operation) + "the device failed", error);
    if (pending_.empty() ||
        pending_.front().operation.number != first.operation.number) {
      continue;  // the owner was quicker
    }
    if (done) {
      pending_.pop_front();
      continue;
    }
    // What was computed before it is no part of its time.
    auto& since = pending_.front().since;
    if (begun && (!since || waits)) since = now;
    if (since && now - *since > options_.limit) {
      Fail(Where(first.operation) + "it did not end within " +
           SecondsText(options_.limit));
    }
    return;
  }
}

void Clique::Watched::LookAtNccl(Lock& lock) {
  if (in_call_ || handle_ == nullptr || stop_) return;
  in_call_ = true;
  call_began_ = steady_clock::now();
  const Handle handle = handle_;
  lock.unlock();
  Result state = Result::kSuccess;
  const Result asked = library_->functions().get_async_error(handle, &state);
  if (asked != Result::kSuccess) state = asked;
  lock.lock();
  in_call_ = false;
  changed_.notify_all();
  if (stop_ || state == Result::kSuccess || state == Result::kInProgress) {
    return;
  }
  Fail(Where() + library_->Explain(state));
}

void Clique::Watched::LookAfterOwner(Lock& lock) {
  const auto now = steady_clock::now();
  // It may wait for room on a disk, say, and will hear of it then.
  if (options_.waits()) failure_->at = now;
  if (heard_ || resorted_ || now - failure_->at < options_.patience) return;
  resorted_ = true;
  // Who reads these words takes the kind of the failure from them.
  const std::string text =
      (joined_ ? "NCCL: " : "NCCL init: ") + failure_->text;
  lock.unlock();
  options_.last_resort(text);
  lock.lock();
}

}  // namespace leadline::collective::nccl
