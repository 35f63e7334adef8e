#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control_world.h"

namespace leadline::control {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// s1 of one trial that succeeded; its attempt has ended.
void RunOne(World& world) {
  world.Submit(MakeSweep(1, 1, 1));
  world.Register(1, "n", 1);
  world.Send(1, AttemptOf(1, 1, 1), {ResultOf(1, 0, 0, 1.0)});
  world.End(1, AttemptOf(1, 1, 1));
  ASSERT_EQ(world.StateOf(SweepId{1}), SweepState::kComplete);
}

EditSweep Edit(const std::string& id) {
  EditSweep command;
  command.sweep = {1};
  command.request_id = id;
  return command;
}

RemoveTargets Remove(std::vector<Target> targets, const std::string& id) {
  RemoveTargets command;
  command.targets = std::move(targets);
  command.request_id = id;
  return command;
}

bool Changed(const Outcome& outcome) {
  EXPECT_TRUE(outcome.answer.ok()) << outcome.answer.status();
  return std::get<EditAnswer>(*outcome.answer).changed;
}

TEST(HousekeepingTest, TagsAndNoteOfASweepThatRunsAreSet) {
  World world;
  world.Submit(MakeSweep(1, 1, 1));
  EditSweep command = Edit("e1");
  command.add_tags = {"b", "a", "a"};
  command.note = "a note";
  EXPECT_TRUE(Changed(world.Do(command)));
  command.request_id = "e2";
  EXPECT_FALSE(Changed(world.Do(command)));
  EditSweep less = Edit("e3");
  less.remove_tags = {"a", "never there"};
  EXPECT_TRUE(Changed(world.Do(less)));
  const auto sweep = world.reader().GetSweep({1})->sweep;
  EXPECT_THAT(sweep.tags, ElementsAre("b"));
  EXPECT_EQ(sweep.note, "a note");
}

TEST(HousekeepingTest, AskingTwiceDoesItOnce) {
  World world;
  world.Submit(MakeSweep(1, 1, 1));
  EditSweep command = Edit("e1");
  command.note = "first";
  EXPECT_TRUE(Changed(world.Do(command)));
  EditSweep other = Edit("e2");
  other.note = "second";
  EXPECT_TRUE(Changed(world.Do(other)));
  EXPECT_TRUE(Changed(world.Do(command)));
  EXPECT_EQ(world.reader().GetSweep({1})->sweep.note, "second");
  other.request_id = "e1";
  EXPECT_TRUE(absl::IsInvalidArgument(world.Do(other).answer.status()));
}

TEST(HousekeepingTest, OnlyWhatHasEndedIsArchivedOrRemoved) {
  World world;
  world.Submit(MakeSweep(1, 1, 1));
  EditSweep archive = Edit("e1");
  archive.archived = true;
  const auto refused = world.Do(archive).answer.status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("cancel it first"));
  EXPECT_TRUE(absl::IsFailedPrecondition(
      world.Do(Remove({SweepId{1}}, "d1")).answer.status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(
      world.Do(Remove({Trial(1, 1, 0)}, "d2")).answer.status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      world.Do(Remove({CellId{{1}, 1}}, "d3")).answer.status()));
  EXPECT_TRUE(
      absl::IsNotFound(world.Do(Remove({SweepId{7}}, "d4")).answer.status()));
}

TEST(HousekeepingTest, ARetryTakesASweepOutOfTheArchive) {
  World world;
  world.Submit(MakeSweep(1, 1, 1));
  world.Do(CancelTarget{SweepId{1}, "c1", {}});
  EditSweep archive = Edit("e1");
  archive.archived = true;
  EXPECT_TRUE(Changed(world.Do(archive)));
  EXPECT_TRUE(world.reader().GetSweep({1})->sweep.archived_at.has_value());
  world.Retry({SweepId{1}}, false, true);
  EXPECT_EQ(world.reader().GetSweep({1})->sweep.archived_at, std::nullopt);
}

TEST(HousekeepingTest, ARemovedSweepIsGoneAndItsNumberIsNotUsedAgain) {
  World world;
  RunOne(world);
  const Outcome removed = world.Do(Remove({SweepId{1}, SweepId{1}}, "d1"));
  ASSERT_TRUE(removed.answer.ok()) << removed.answer.status();
  EXPECT_EQ(std::get<RemoveAnswer>(*removed.answer).sweeps, 1);
  EXPECT_TRUE(absl::IsNotFound(world.reader().GetSweep({1}).status()));
  EXPECT_THAT(world.control().state().sweeps, IsEmpty());
  // Asked again after it has gone.
  const Outcome again = world.Do(Remove({SweepId{1}, SweepId{1}}, "d1"));
  ASSERT_TRUE(again.answer.ok()) << again.answer.status();
  EXPECT_EQ(std::get<RemoveAnswer>(*again.answer).sweeps, 1);
  world.Restart();
  EXPECT_EQ(world.Submit(MakeSweep(1, 1, 1), "r2"), SweepId{2});
}

TEST(HousekeepingTest, NothingIsRemovedWhereOneTargetMayNot) {
  World world;
  RunOne(world);
  world.Submit(MakeSweep(1, 1, 1, "other"), "r2");
  EXPECT_TRUE(absl::IsFailedPrecondition(
      world.Do(Remove({SweepId{1}, SweepId{2}}, "d1")).answer.status()));
  EXPECT_TRUE(world.reader().GetSweep({1}).ok());
}

TEST(HousekeepingTest, ASweepWhoseAttemptIsStillEndingIsNotRemoved) {
  World world;
  world.Submit(MakeSweep(1, 1, 1));
  world.Register(1, "n", 1);
  world.Send(1, AttemptOf(1, 1, 1), {ResultOf(1, 0, 0, 1.0)});
  ASSERT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kSucceeded);
  EXPECT_TRUE(absl::IsFailedPrecondition(
      world.Do(Remove({Trial(1, 1, 0)}, "d1")).answer.status()));
}

TEST(HousekeepingTest, OfATrialThatHasEndedTheMeasurementsGo) {
  World world;
  RunOne(world);
  const Outcome removed = world.Do(Remove({Trial(1, 1, 0)}, "d1"));
  ASSERT_TRUE(removed.answer.ok()) << removed.answer.status();
  EXPECT_EQ(std::get<RemoveAnswer>(*removed.answer).trials, 1);
  EXPECT_EQ(world.StateOf(Trial(1, 1, 0)), TrialState::kSucceeded);
}

TEST(HousekeepingTest, ADryRunChangesNothing) {
  World world;
  RunOne(world);
  RemoveTargets command = Remove({SweepId{1}}, "");
  command.dry_run = true;
  const Outcome outcome = world.Do(command);
  EXPECT_TRUE(outcome.answer.ok());
  EXPECT_THAT(outcome.changes, IsEmpty());
}

}  // namespace
}  // namespace leadline::control
