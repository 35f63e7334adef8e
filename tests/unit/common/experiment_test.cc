#include "common/experiment.h"

#include <gtest/gtest.h>

namespace leadline {
namespace {

TEST(Experiment, NamesReadBack) {
  for (const TrialState s : kTrialStates)
    EXPECT_EQ(ParseTrialState(Name(s)), s);
  for (const SweepState s : kSweepStates)
    EXPECT_EQ(ParseSweepState(Name(s)), s);
  for (const AttemptOutcome o : kAttemptOutcomes) {
    EXPECT_EQ(ParseAttemptOutcome(Name(o)), o);
  }
  for (const FailureKind k : kFailureKinds) {
    EXPECT_EQ(ParseFailureKind(Name(k)), k);
  }
  EXPECT_FALSE(ParseTrialState("Queued"));
  EXPECT_FALSE(ParseFailureKind(""));
}

TEST(Experiment, OnlyARetryLeavesAnEndedState) {
  for (const TrialState from : kTrialStates) {
    if (!IsEnded(from)) continue;
    for (const TrialState to : kTrialStates) {
      const bool retry =
          to == TrialState::kQueued &&
          (from == TrialState::kFailed || from == TrialState::kCancelled);
      EXPECT_EQ(IsLegalMove(from, to), retry) << Name(from) << Name(to);
    }
  }
}

TEST(Experiment, EveryUnendedStateHasAWayToAnEnd) {
  for (const TrialState from : kTrialStates) {
    if (!IsEnded(from)) {
      EXPECT_TRUE(IsLegalMove(from, TrialState::kCancelled));
    }
    EXPECT_FALSE(IsLegalMove(from, from)) << Name(from);
  }
}

}  // namespace
}  // namespace leadline
