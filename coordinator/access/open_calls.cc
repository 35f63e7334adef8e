#include "coordinator/access/open_calls.h"

#include <utility>

namespace leadline::access {

int64_t OpenCalls::Add(Call call) {
  const std::lock_guard lock(mutex_);
  if (call.is_stream) {
    ++streams_[call.caller];
    if (!call.is_agent) ++streams_of_readers_;
  }
  calls_[++last_] = std::move(call);
  return last_;
}

void OpenCalls::Remove(int64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(number);
  if (found == calls_.end()) return;
  const Call& call = found->second;
  if (call.is_stream) {
    const auto count = streams_.find(call.caller);
    if (--count->second == 0) streams_.erase(count);
    if (!call.is_agent) --streams_of_readers_;
  }
  calls_.erase(found);
}

int64_t OpenCalls::StreamsOf(const std::string& caller) const {
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(caller);
  return found == streams_.end() ? 0 : found->second;
}

int64_t OpenCalls::StreamsOfReaders() const {
  const std::lock_guard lock(mutex_);
  return streams_of_readers_;
}

int64_t OpenCalls::EndWithout(
    const std::function<bool(int64_t token)>& is_valid) {
  int64_t ended = 0;
  for (const int64_t number : Without(is_valid)) ended += End(number) ? 1 : 0;
  return ended;
}

std::vector<int64_t> OpenCalls::Without(
    const std::function<bool(int64_t token)>& is_valid) const {
  const std::lock_guard lock(mutex_);
  std::vector<int64_t> numbers;
  for (const auto& [number, call] : calls_) {
    if (call.token && !is_valid(*call.token)) numbers.push_back(number);
  }
  return numbers;
}

bool OpenCalls::End(int64_t number) {
  // Held meanwhile: a call that is removed by another thread is gone for good.
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(number);
  if (found == calls_.end()) return false;
  const std::function<void()> end = found->second.end;
  end();
  return true;
}

}  // namespace leadline::access
