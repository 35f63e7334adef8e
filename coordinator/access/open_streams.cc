#include "coordinator/access/open_streams.h"

#include <utility>

namespace leadline::access {

int64_t OpenStreams::Add(Stream stream) {
  const std::lock_guard lock(mutex_);
  ++of_caller_[stream.caller];
  if (!stream.is_agent) ++of_readers_;
  streams_[++last_] = std::move(stream);
  return last_;
}

void OpenStreams::Remove(int64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(number);
  if (found == streams_.end()) return;
  const auto count = of_caller_.find(found->second.caller);
  if (--count->second == 0) of_caller_.erase(count);
  if (!found->second.is_agent) --of_readers_;
  streams_.erase(found);
}

int64_t OpenStreams::StreamsOf(const std::string& caller) const {
  const std::lock_guard lock(mutex_);
  const auto found = of_caller_.find(caller);
  return found == of_caller_.end() ? 0 : found->second;
}

int64_t OpenStreams::StreamsOfReaders() const {
  const std::lock_guard lock(mutex_);
  return of_readers_;
}

int64_t OpenStreams::EndWithout(
    const std::function<bool(int64_t token)>& is_valid) {
  int64_t ended = 0;
  for (const int64_t number : Without(is_valid)) ended += End(number) ? 1 : 0;
  return ended;
}

std::vector<int64_t> OpenStreams::Without(
    const std::function<bool(int64_t token)>& is_valid) const {
  const std::lock_guard lock(mutex_);
  std::vector<int64_t> numbers;
  for (const auto& [number, stream] : streams_) {
    if (stream.token && !is_valid(*stream.token)) numbers.push_back(number);
  }
  return numbers;
}

bool OpenStreams::End(int64_t number) {
  // Held meanwhile: one that is removed by another thread is gone for good.
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(number);
  if (found == streams_.end()) return false;
  const std::function<void()> end = found->second.end;
  end();
  return true;
}

}  // namespace leadline::access
