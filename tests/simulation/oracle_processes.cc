// What the oracle says of processes, as the machines see them.

#include <algorithm>

#include "oracle.h"

namespace leadline::simulation {
namespace {

[[noreturn]] void Fail(const std::string& what) { throw Violation(what); }

}  // namespace

void Oracle::OnTrainerStarted(int64_t node, const AttemptKey& attempt,
                              int64_t rank,
                              const std::vector<std::string>& devices) {
  for (const Process& other : processes_[node]) {
    for (const std::string& device : devices) {
      if (std::ranges::find(other.devices, device) != other.devices.end()) {
        Fail("device " + device + " of node " + std::to_string(node) +
             " is given to " + ToText(attempt) + " while " +
             ToText(other.attempt) + " holds it");
      }
    }
  }
  for (const auto& [other, processes] : processes_) {
    for (const Process& process : processes) {
      if (process.attempt == attempt && process.rank == rank) {
        Fail("rank " + std::to_string(rank) + " of " + ToText(attempt) +
             " is started twice");
      }
    }
  }
  processes_[node].push_back({attempt, rank, devices, false});
}

/// A superseded trainer may live on, stopped or deaf; it may not go on beside
/// its successor.
void Oracle::OnTrainerSteps(const AttemptKey& attempt) {
  for (auto& [node, processes] : processes_) {
    for (Process& process : processes) {
      if (process.attempt == attempt) process.stepped = true;
      if (process.attempt.cohort == attempt.cohort &&
          process.attempt.number > attempt.number && process.stepped) {
        Fail("attempt " + ToText(attempt) + " goes on beside " +
             ToText(process.attempt));
      }
    }
  }
}

void Oracle::OnTrainerFinished(const AttemptKey& attempt) {
  finished_.insert(attempt);
}

void Oracle::OnTrainerGone(int64_t node, const AttemptKey& attempt,
                           int64_t rank, bool is_through) {
  std::erase_if(processes_[node], [&](const Process& process) {
    return process.attempt == attempt && process.rank == rank;
  });
  if (!is_through && sizes_[attempt] > 1) lost_a_rank_.insert(attempt);
}

}  // namespace leadline::simulation
