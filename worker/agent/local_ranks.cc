#include "worker/agent/local_ranks.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "common/experiment.h"
#include "worker/agent/record_batches.h"

namespace leadline::agent {
namespace {

// For the rank that is the cause to be seen.
constexpr std::chrono::milliseconds kCauseMayFollow{500};

}  // namespace

std::optional<v1::EndRecord> ReadEndRecord(AttemptHost& host,
                                           const AttemptKey& attempt,
                                           int64_t rank) {
  RecordReader reader(host.Events(attempt, rank));
  if (!reader.SeekAfter(std::numeric_limits<int64_t>::max()).ok()) return {};
  const auto& last = reader.passed_over();
  if (!last || !last->has_end()) return {};
  return last->end();
}

LocalRanks::LocalRanks(AttemptKey key, const HoldRecord& hold,
                       AttemptHost& host, HangPolicy policy,
                       std::vector<std::unique_ptr<Trainer>> trainers,
                       SteadyTime now)
    : key_(key), host_(host), pace_(policy, now), world_size_(hold.world_size) {
  for (std::unique_ptr<Trainer>& trainer : trainers) {
    Rank& rank = ranks_.emplace_back();
    rank.number = hold.first_rank + std::ssize(ranks_) - 1;
    rank.trainer = std::move(trainer);
  }
}

std::vector<v1::StartedRank> LocalRanks::Describe() const {
  std::vector<v1::StartedRank> list;
  for (const Rank& rank : ranks_) {
    v1::StartedRank& one = list.emplace_back();
    one.set_rank(rank.number);
    one.set_pid(rank.trainer->pid());
    one.set_address(rank.address.value_or(""));
  }
  return list;
}

int64_t LocalRanks::CountAddresses() const {
  return std::ranges::count_if(
      ranks_, [](const Rank& rank) { return rank.address.has_value(); });
}

void LocalRanks::LookAt(Rank& rank, SteadyTime now) {
  if (rank.ended_at) return;
  if (world_size_ > 1 && !rank.address) rank.address = rank.trainer->Address();
  if (!rank.trainer->status()) return;
  rank.ended_at = now;
  rank.record = ReadEndRecord(host_, key_, rank.number);
  rank.ended_well = rank.record && rank.record->outcome() == "succeeded";
  if (rank.ended_well || rank.was_told || world_size_ == 1) return;
  for (const Rank& other : ranks_) {
    if (other.ended_at || !other.trainer->Look().is_stopped) continue;
    stopped_beside_ += "; rank " + std::to_string(other.number) +
                       " is stopped (SIGSTOP, job control or a debugger)";
  }
}

bool LocalRanks::IsGone(SteadyTime now) {
  bool gone = true;
  for (Rank& rank : ranks_) {
    const bool is_gone = rank.trainer->IsGone();
    LookAt(rank, now);
    gone = gone && is_gone;
  }
  if (!gone) TellPeers(now);
  return gone;
}

bool LocalRanks::IsConsequence(const Rank& rank) {
  if (!rank.record) return false;
  // Told to stop, and not by us: with another rank.
  if (rank.record->kind().empty()) return true;
  const auto kind = ParseFailureKind(rank.record->kind());
  return kind == FailureKind::kNccl || kind == FailureKind::kNcclInit;
}

const LocalRanks::Rank* LocalRanks::FirstToFail() const {
  const Rank* first = nullptr;
  for (const Rank& rank : ranks_) {
    if (!rank.ended_at || rank.ended_well) continue;
    const auto place = [](const Rank& one) {
      return std::tuple(one.was_told, IsConsequence(one), *one.ended_at);
    };
    if (!first || place(rank) < place(*first)) first = &rank;
  }
  return first;
}

bool LocalRanks::MustEnd(SteadyTime now) const {
  const bool all_ended = std::ranges::all_of(
      ranks_, [](const Rank& rank) { return rank.ended_at.has_value(); });
  if (all_ended) return true;
  const Rank* failed = FirstToFail();
  if (!failed) return false;
  return !IsConsequence(*failed) || now - *failed->ended_at >= kCauseMayFollow;
}

std::optional<std::string> LocalRanks::WhyHung(SteadyTime now) {
  if (!pace_.IsDue(now)) return std::nullopt;
  for (Rank& rank : ranks_) {
    if (rank.ended_at) continue;
    const Activity activity = rank.trainer->Look();
    rank.is_stopped = activity.is_stopped;
    if (rank.number == 0) pace_.See(activity, now);
  }
  if (ranks_.front().number == 0) return pace_.WhyHung();
  pace_.Begin(now);
  return std::nullopt;
}

void LocalRanks::NoteWait(std::chrono::milliseconds wait) {
  pace_.NoteWait(wait);
}

bool LocalRanks::IsSuspended() const {
  return std::ranges::any_of(ranks_, [](const Rank& rank) {
    return !rank.ended_at && rank.is_stopped;
  });
}

void LocalRanks::Renew(SteadyTime as_of) {
  for (const Rank& rank : ranks_) rank.trainer->SendOrder("renew", as_of);
}

bool LocalRanks::AskToStop(SteadyTime now) {
  bool all = true;
  for (Rank& rank : ranks_) {
    if (!rank.heard_stop && !rank.ended_at) {
      rank.heard_stop = rank.trainer->SendOrder("stop", now);
      rank.was_told = rank.was_told || rank.heard_stop;
    }
    all = all && (rank.heard_stop || rank.ended_at);
  }
  return all;
}

void LocalRanks::Signal(int signal) {
  for (Rank& rank : ranks_) {
    if (!rank.ended_at) rank.was_told = true;
    rank.trainer->Signal(signal);
  }
}

void LocalRanks::SetPeers(const std::vector<std::string>& peers) {
  if (std::ssize(peers) == world_size_) peers_ = peers;
}

void LocalRanks::TellPeers(SteadyTime now) {
  if (peers_.empty()) return;
  for (Rank& rank : ranks_) {
    if (rank.heard_peers || rank.ended_at) continue;
    rank.heard_peers = rank.trainer->SendPeers(peers_, now);
  }
}

LocalRanks::End LocalRanks::HowEnded() const {
  const Rank* failed = FirstToFail();
  const Rank& rank = failed ? *failed : ranks_.front();
  return {rank.number, *rank.trainer->status(), rank.record,
          rank.trainer->Traces(), failed ? stopped_beside_ : ""};
}

}  // namespace leadline::agent
