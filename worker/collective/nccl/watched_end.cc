#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

#include "worker/collective/nccl/watched.h"
#include "worker/collective/ring/collective_error.h"

namespace leadline::collective::nccl {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// What a call gets at most that should return at once, before it is left to
// itself.
constexpr milliseconds kForCall{1000};
constexpr milliseconds kBetweenPolls{1};

}  // namespace

std::string Clique::Watched::Where(const Operation& operation) const {
  return ToText(operation) + ", on the device of rank " +
         std::to_string(options_.rank) + ": ";
}

std::string Clique::Watched::Where() const {
  if (!pending_.empty()) return Where(pending_.front().operation);
  return starting_ ? Where(*starting_) : std::string();
}

void Clique::Watched::Fail(const std::string& text,
                           const std::exception_ptr& of_device) {
  if (failure_) return;
  failure_ = {.text = text, .of_device = of_device, .at = steady_clock::now()};
  changed_.notify_all();
  if (!stop_) ring_.Abort(text);
  BeginToClose(/*aborts=*/true);
}

void Clique::Watched::FailAndThrow(const std::string& text) {
  Fail(text);
  ThrowIfFailed();
  std::terminate();  // not reached: a failure is thrown
}

void Clique::Watched::ThrowIfFailed() {
  if (!failure_) return;
  heard_ = true;
  if (failure_->of_device) std::rethrow_exception(failure_->of_device);
  if (joined_) throw OperationError(failure_->text);
  throw SetUpError(failure_->text);
}

void Clique::Watched::Abort(const std::string& why) {
  const Lock lock(mutex_);
  heard_ = true;
  Fail("rank " + std::to_string(options_.rank) + " goes no further: " + why);
}

void Clique::Watched::OnDevice(const Operation& operation,
                               const std::function<void()>& act) {
  try {
    act();
  } catch (...) {
    const Lock lock(mutex_);
    Fail(Where(operation) + "the device failed", std::current_exception());
    ThrowIfFailed();
  }
}

void Clique::Watched::BeginToClose(bool aborts) {
  if (handle_ == nullptr && !in_call_) return;
  ++closing_;
  try {
    // NCCL is known to hang here too.
    std::thread([self = shared_from_this(), aborts] {
      self->Close(aborts);
    }).detach();
  } catch (const std::system_error&) {
    --closing_;  // then it goes with the process
  }
}

void Clique::Watched::Close(bool aborts) {
  Lock lock(mutex_);
  // Aborting is what may be done beside a call that never returns.
  changed_.wait_for(lock, PatienceWithCalls(), [&] { return !in_call_; });
  const Handle handle = std::exchange(handle_, nullptr);
  lock.unlock();
  if (handle != nullptr && (aborts || !Part(handle))) {
    library_->functions().abort(handle);
  }
  lock.lock();
  --closing_;
  changed_.notify_all();
}

// False where it must be aborted.
bool Clique::Watched::Part(Handle handle) {
  const Functions& nccl = library_->functions();
  const auto deadline = steady_clock::now() + options_.farewell_limit;
  Result result = nccl.finalize(handle);
  while (result == Result::kInProgress && steady_clock::now() < deadline) {
    {
      Lock lock(mutex_);
      // Another rank may not take leave, but say that it could not go on.
      changed_.wait_for(lock, kBetweenPolls, [&] { return !!failure_; });
      if (failure_) return false;
    }
    const Result asked = nccl.get_async_error(handle, &result);
    if (asked != Result::kSuccess) return false;
  }
  if (result != Result::kSuccess) return false;
  // What it returns changes nothing: the handle is gone.
  nccl.destroy(handle);
  return true;
}

milliseconds Clique::Watched::PatienceWithCalls() const {
  return std::min(kForCall, options_.farewell_limit);
}

void Clique::Watched::End() {
  Lock lock(mutex_);
  heard_ = true;
  if (!failure_) LookAtDevice(lock, steady_clock::now(), /*waits=*/true);
  if (handle_ != nullptr && closing_ == 0) {
    BeginToClose(failure_ || !joined_ || !pending_.empty());
  }
  changed_.wait_for(lock, options_.farewell_limit + PatienceWithCalls(),
                    [&] { return closing_ == 0; });
  stop_ = true;
  changed_.notify_all();
  changed_.wait_for(lock, PatienceWithCalls(), [&] { return !watching_; });
}

}  // namespace leadline::collective::nccl
