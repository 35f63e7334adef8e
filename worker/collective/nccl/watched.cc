#include "worker/collective/nccl/watched.h"

#include <algorithm>
#include <utility>

#include "worker/collective/nccl/seconds_text.h"

namespace leadline::collective::nccl {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kBetweenPolls{1};
// An exchange takes tens of microseconds or many milliseconds.
constexpr int kQuickLooks = 100;
constexpr microseconds kBetweenLooks{50};

DataType TypeOf(Element element) {
  switch (element) {
    case Element::kByte:
      return DataType::kUint8;
    case Element::kFloat32:
      return DataType::kFloat32;
    case Element::kFloat64:
      return DataType::kFloat64;
    case Element::kInt64:
      return DataType::kInt64;
  }
  return DataType::kUint8;
}

}  // namespace

Clique::Watched::Watched(Ring& ring, std::shared_ptr<const Library> library,
                         std::shared_ptr<DeviceQueue> queue,
                         CliqueOptions options)
    : ring_(ring),
      library_(std::move(library)),
      queue_(std::move(queue)),
      options_(std::move(options)) {}

void Clique::Watched::Join(const UniqueId& id) {
  const auto deadline = steady_clock::now() + options_.set_up_limit;
  Config config;
  Result result = Call([&](Handle) {
    Handle handle = nullptr;
    const Result begun = library_->functions().init_rank(
        &handle, static_cast<int>(options_.size), id,
        static_cast<int>(options_.rank), &config);
    const std::lock_guard lock(mutex_);
    handle_ = handle;
    return begun;
  });
  result = Settle(result, deadline, options_.breathe);
  const Lock lock(mutex_);
  if (result == Result::kInProgress) {
    FailAndThrow("NCCL was not set up within " +
                 SecondsText(options_.set_up_limit) +
                 ": it still waits for another rank");
  }
  if (result != Result::kSuccess) {
    FailAndThrow("NCCL was not set up: " + library_->Explain(result));
  }
  ThrowIfFailed();
  joined_ = true;
}

uint64_t Clique::Watched::Start(const Order& order) {
  const Operation operation{.number = next_number_,
                            .task = order.task,
                            .element = order.element,
                            .root = order.root,
                            .count = order.count,
                            .step = order.step};
  {
    const Lock lock(mutex_);
    ThrowIfFailed();
    starting_ = operation;
  }
  Pending pending{.operation = operation, .begun = {}, .done = {}};
  OnDevice(operation, [&] {
    queue_->FollowCompute();
    pending.begun = queue_->Mark();
  });
  const Result result = Settle(Issue(operation, order.values),
                               steady_clock::now() + options_.limit, [] {});
  if (result != Result::kSuccess) {
    const Lock lock(mutex_);
    FailAndThrow(Where(operation) +
                 (result == Result::kInProgress
                      ? "did not begin within " + SecondsText(options_.limit)
                      : library_->Explain(result)));
  }
  OnDevice(operation, [&] { pending.done = queue_->Mark(); });
  const Lock lock(mutex_);
  ThrowIfFailed();
  pending_.push_back(std::move(pending));
  starting_.reset();
  return next_number_++;
}

void Clique::Watched::Wait(uint64_t number) {
  const std::optional<Pending> pending = Find(number);
  bool done = !pending;
  for (int looks = 0; !done; ++looks) {
    OnDevice(pending->operation, [&] { done = pending->done->IsDone(); });
    Lock lock(mutex_);
    if (!done && looks >= kQuickLooks) changed_.wait_for(lock, kBetweenLooks);
    ThrowIfFailed();
  }
  // Done may mean ended by an error, and is no result then.
  const Result state = AsyncState();
  const Lock lock(mutex_);
  if (state != Result::kSuccess && state != Result::kInProgress) {
    FailAndThrow(Where() + library_->Explain(state));
  }
  ThrowIfFailed();
  while (!pending_.empty() && pending_.front().operation.number <= number) {
    pending_.pop_front();
  }
}

std::optional<Clique::Watched::Pending> Clique::Watched::Find(uint64_t number) {
  const Lock lock(mutex_);
  ThrowIfFailed();
  const auto found = std::ranges::find(
      pending_, number, [](const Pending& p) { return p.operation.number; });
  // The watchdog takes away what is done.
  if (found == pending_.end()) return std::nullopt;
  return *found;
}

Result Clique::Watched::Issue(const Operation& operation, void* values) {
  const Functions& nccl = library_->functions();
  const DataType type = TypeOf(operation.element);
  return Call([&](Handle handle) {
    if (operation.task == Task::kCopy) {
      return nccl.broadcast(values, values, operation.count, type,
                            static_cast<int>(operation.root), handle,
                            queue_->stream());
    }
    return nccl.all_reduce(values, values, operation.count, type,
                           Reduction::kSum, handle, queue_->stream());
  });
}

Result Clique::Watched::Call(const DeviceCall& call) {
  Lock lock(mutex_);
  // The watchdog's own calls are short, or never return.
  const bool free = changed_.wait_for(
      lock, CallLimit(), [&] { return !in_call_ || failure_.has_value(); });
  if (!free) FailAndThrow("a call of NCCL does not return");
  ThrowIfFailed();
  in_call_ = true;
  call_began_ = steady_clock::now();
  const Handle handle = handle_;
  lock.unlock();
  const Result result = call(handle);
  lock.lock();
  in_call_ = false;
  changed_.notify_all();
  return result;
}

Result Clique::Watched::AsyncState() {
  Result state = Result::kSuccess;
  const Result result = Call([&](Handle handle) {
    return library_->functions().get_async_error(handle, &state);
  });
  return result == Result::kSuccess ? state : result;
}

Result Clique::Watched::Settle(Result result, SteadyTime deadline,
                               const std::function<void()>& breathe) {
  while (result == Result::kInProgress) {
    breathe();
    {
      Lock lock(mutex_);
      changed_.wait_for(lock, kBetweenPolls,
                        [&] { return failure_.has_value(); });
      ThrowIfFailed();
    }
    if (steady_clock::now() > deadline) return result;
    result = AsyncState();
  }
  return result;
}

milliseconds Clique::Watched::CallLimit() const {
  return joined_ ? options_.limit : options_.set_up_limit;
}

}  // namespace leadline::collective::nccl
