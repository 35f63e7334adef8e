#include "coordinator/control/commit_batch.h"

#include <iterator>
#include <utility>

namespace leadline::control {
namespace {

template <typename Value>
void MoveTo(std::vector<Value>& from, std::vector<Value>& to) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
  from.clear();
}

/// Moves the first `count`.
template <typename Iterator, typename Value>
Iterator MoveSome(Iterator from, size_t count, std::vector<Value>& to) {
  const Iterator end = from + static_cast<std::ptrdiff_t>(count);
  std::move(from, end, std::back_inserter(to));
  return end;
}

}  // namespace

void CommitBatch::Add(Command command, Outcome outcome, Answered answered) {
  const size_t count = outcome.changes.size();
  const size_t kept = outcome.orphans.size();
  MoveTo(outcome.changes, changes);
  MoveTo(outcome.orphans, orphans);
  applied.push_back({std::move(command), std::move(outcome),
                     std::move(answered), count, kept});
}

std::deque<CommitBatch> CommitBatch::Apart() && {
  std::deque<CommitBatch> apart;
  auto change = changes.begin();
  auto orphan = orphans.begin();
  for (Applied& one : applied) {
    CommitBatch& batch = apart.emplace_back();
    change = MoveSome(change, one.changes, batch.changes);
    orphan = MoveSome(orphan, one.orphans, batch.orphans);
    batch.applied.push_back(std::move(one));
  }
  return apart;
}

}  // namespace leadline::control
