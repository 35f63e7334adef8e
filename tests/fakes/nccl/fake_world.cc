#include "tests/fakes/nccl/fake_world.h"

#include <algorithm>
#include <cstring>

namespace leadline::test {
namespace {

constexpr int kUint8 = 1;
constexpr int kInt64 = 4;
constexpr int kFloat32 = 7;

template <typename Number>
void Sum(const std::map<int, FakeWorld::Work>& works) {
  const size_t count = works.begin()->second.count;
  for (size_t i = 0; i < count; ++i) {
    Number sum = 0;
    for (const auto& [rank, work] : works) {
      sum += static_cast<Number*>(work.values)[i];
    }
    for (const auto& [rank, work] : works) {
      static_cast<Number*>(work.values)[i] = sum;
    }
  }
}

size_t SizeOf(int type) {
  if (type == kUint8) return 1;
  return type == kFloat32 ? 4 : 8;
}

void Copy(const std::map<int, FakeWorld::Work>& works) {
  const FakeWorld::Work& from = works.at(works.begin()->second.root);
  for (const auto& [rank, work] : works) {
    if (rank == from.root) continue;
    std::memcpy(work.values, from.values, from.count * SizeOf(from.type));
  }
}

}  // namespace

void FakeWorld::Enter() {
  const std::lock_guard lock(mutex_);
  ++in_;
}

void FakeWorld::Leave() {
  const std::lock_guard lock(mutex_);
  ++left_;
}

bool FakeWorld::AllAreIn() const {
  const std::lock_guard lock(mutex_);
  return in_ == size_;
}

bool FakeWorld::AllHaveLeft() const {
  const std::lock_guard lock(mutex_);
  return left_ == size_;
}

void FakeWorld::Do(int rank, int number, const Work& work) {
  std::unique_lock lock(mutex_);
  if (aborted_[static_cast<size_t>(rank)]) return;
  Meeting& meeting = meetings_[number];
  meeting.of_rank[rank] = work;
  if (static_cast<int>(meeting.of_rank.size()) == size_) Finish(meeting);
  changed_.notify_all();
  changed_.wait(lock, [&] {
    return meeting.done || aborted_[static_cast<size_t>(rank)];
  });
  // What has aborted takes no part: its memory may be gone.
  if (!meeting.done) meeting.of_rank.erase(rank);
}

void FakeWorld::Finish(Meeting& meeting) {
  const Work& first = meeting.of_rank.begin()->second;
  const bool alike = std::ranges::all_of(
      meeting.of_rank, [&](const auto& each) { return each.second == first; });
  if (!alike) return;
  if (!first.sums) {
    Copy(meeting.of_rank);
  } else if (first.type == kInt64) {
    Sum<int64_t>(meeting.of_rank);
  } else if (first.type == kFloat32) {
    Sum<float>(meeting.of_rank);
  } else {
    Sum<double>(meeting.of_rank);
  }
  meeting.done = true;
}

void FakeWorld::Abort(int rank) {
  const std::lock_guard lock(mutex_);
  aborted_[static_cast<size_t>(rank)] = true;
  changed_.notify_all();
}

void FakeWorld::HangUntilAbort(int rank) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return aborted_[static_cast<size_t>(rank)]; });
}

}  // namespace leadline::test
