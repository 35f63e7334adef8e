#include "tests/fakes/nccl/fake_faults.h"

namespace leadline::test {
namespace {

constexpr int kNewVersion = 22809;
constexpr int kInternalError = 3;

}  // namespace

FakeFaults& Faults() {
  static FakeFaults faults;
  return faults;
}

template <typename Value>
Value* FakeFaults::Find(std::map<Place, Value>& map,
                        const std::string& function, int rank) {
  auto found = map.find({function, rank});
  if (found == map.end()) found = map.find({function, -1});
  return found == map.end() ? nullptr : &found->second;
}

void FakeFaults::Reset() {
  const std::lock_guard lock(mutex_);
  version_ = kNewVersion;
  ++resets_;
  calls_.clear();
  returns_.clear();
  later_.clear();
  delays_.clear();
  hanging_operations_.clear();
  hanging_calls_.clear();
  changed_.notify_all();
}

void FakeFaults::SetVersion(int version) {
  const std::lock_guard lock(mutex_);
  version_ = version;
}

void FakeFaults::Return(const std::string& function, int rank, int result,
                        int after) {
  const std::lock_guard lock(mutex_);
  returns_[{function, rank}] = {.result = result, .after = after};
}

void FakeFaults::FailLater(int rank, int result, int operations) {
  const std::lock_guard lock(mutex_);
  later_[{"", rank}] = {result, operations};
}

void FakeFaults::Delay(const std::string& function, int rank, int queries) {
  const std::lock_guard lock(mutex_);
  delays_[{function, rank}] = queries;
}

void FakeFaults::HangOperation(int rank, int number) {
  const std::lock_guard lock(mutex_);
  hanging_operations_[{"", rank}] = number;
}

void FakeFaults::HangCalls(const std::string& function, int rank) {
  const std::lock_guard lock(mutex_);
  hanging_calls_[{function, rank}] = true;
}

int64_t FakeFaults::Calls(const std::string& function) {
  const std::lock_guard lock(mutex_);
  return calls_[function];
}

void FakeFaults::AwaitCalls(const std::string& function, int64_t calls) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return calls_[function] >= calls; });
}

int64_t FakeFaults::Living() {
  const std::lock_guard lock(mutex_);
  return living_;
}

void FakeFaults::AwaitNoneLiving() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return living_ == 0; });
}

std::optional<int> FakeFaults::OnCall(const std::string& function, int rank) {
  std::unique_lock lock(mutex_);
  ++calls_[function];
  changed_.notify_all();
  if (Find(hanging_calls_, function, rank) != nullptr) {
    const int64_t resets = resets_;
    changed_.wait(lock, [&] { return resets_ > resets; });
    return kInternalError;  // its communicator may be gone by now
  }
  Fixed* const fixed = Find(returns_, function, rank);
  if (fixed == nullptr || ++fixed->calls <= fixed->after) return std::nullopt;
  return fixed->result;
}

int FakeFaults::version() {
  const std::lock_guard lock(mutex_);
  return version_;
}

std::optional<int> FakeFaults::AsyncFault(int rank, int operations) {
  const std::lock_guard lock(mutex_);
  const auto* const later = Find(later_, "", rank);
  if (later == nullptr || operations < later->second) return std::nullopt;
  return later->first;
}

int FakeFaults::DelayOf(const std::string& function, int rank) {
  const std::lock_guard lock(mutex_);
  const int* const queries = Find(delays_, function, rank);
  return queries == nullptr ? 0 : *queries;
}

bool FakeFaults::Hangs(int rank, int operation) {
  const std::lock_guard lock(mutex_);
  const int* const number = Find(hanging_operations_, "", rank);
  return number != nullptr && *number == operation;
}

void FakeFaults::AddLiving(int64_t change) {
  const std::lock_guard lock(mutex_);
  living_ += change;
  changed_.notify_all();
}

}  // namespace leadline::test
