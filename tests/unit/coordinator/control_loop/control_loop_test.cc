#include "coordinator/control_loop.h"

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control_world.h"
#include "faulty_store.h"

namespace leadline {
namespace {

using control::Answer;
using control::SubmitAnswer;
using testing::SizeIs;

class Effects final : public control::EffectSink {
 public:
  void Deliver(const control::AgentOrder& order) override {
    const std::lock_guard lock(mutex_);
    orders_.push_back(order);
  }
  void CloseAllSessions(const absl::Status&) override { ++closed; }
  bool IsWatched(SweepId) override { return true; }
  void Publish(const control::ProgressReport& report) override {
    const std::lock_guard lock(mutex_);
    ++published;
    reports_.push_back(report);
  }

  std::vector<control::ProgressReport> TakeReports() {
    const std::lock_guard lock(mutex_);
    return std::exchange(reports_, {});
  }

  std::vector<control::AgentOrder> Take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(orders_, {});
  }

  std::atomic<int> closed = 0;
  std::atomic<int> published = 0;

 private:
  std::mutex mutex_;
  std::vector<control::AgentOrder> orders_;
  std::vector<control::ProgressReport> reports_;
};

class ControlLoopTest : public testing::Test {
 protected:
  void SetUp() override {
    auto loop = ControlLoop::Start({}, store_, effects_, log_);
    ASSERT_TRUE(loop.ok()) << loop.status();
    loop_ = *std::move(loop);
  }

  absl::StatusOr<Answer> Ask(control::Command command) {
    auto answer = std::make_shared<std::promise<absl::StatusOr<Answer>>>();
    loop_->Post(std::move(command), [answer](absl::StatusOr<Answer> given) {
      answer->set_value(std::move(given));
    });
    return answer->get_future().get();
  }

  absl::StatusOr<Answer> Submit(const std::string& id) {
    return Ask(control::SubmitSweep{
        control::MakeSweep(1, 1, 1, id), 0, id, false, {}, {}});
  }

  absl::StatusOr<Answer> Register() {
    control::NodeRegistered node;
    node.session = {1};
    node.node = "n";
    node.instance = "i";
    node.devices.push_back({"cpu:0", "cpu", 0});
    return Ask(node);
  }

  control::FaultyStore store_;
  Effects effects_;
  NoLog log_;
  std::unique_ptr<ControlLoop> loop_;
};

TEST_F(ControlLoopTest, AnswersAndOrdersFollowTheCommit) {
  ASSERT_TRUE(Submit("r1").ok());
  EXPECT_EQ(*store_.reader().CountSweeps(), 1);
  ASSERT_TRUE(Register().ok());
  EXPECT_THAT(effects_.Take(), SizeIs(2));  // welcome and start
  EXPECT_EQ(store_.reader().GetTrial({{{1}, 1}, 0})->trial.state,
            TrialState::kLeased);
}

TEST_F(ControlLoopTest, RefusedCommitIsTriedAgainAndNothingIsToldBefore) {
  ASSERT_TRUE(Submit("r1").ok());
  store_.failure = absl::UnavailableError("disk full");
  store_.failures = 2;
  const int before = store_.commits;
  ASSERT_TRUE(Register().ok());
  EXPECT_EQ(store_.commits, before + 3);
  EXPECT_EQ(effects_.closed, 0);
  EXPECT_THAT(effects_.Take(), SizeIs(2));
}

TEST_F(ControlLoopTest, CommitThatCannotStandIsDroppedAndTheStoreReadAnew) {
  ASSERT_TRUE(Submit("r1").ok());
  store_.failure = absl::FailedPreconditionError("a fault of ours");
  store_.failures = 1;
  EXPECT_TRUE(absl::IsInternal(Submit("r2").status()));
  EXPECT_EQ(*store_.reader().CountSweeps(), 1);
  const auto again = Submit("r2");
  ASSERT_TRUE(again.ok());
  // Behind the first answer, and before the second.
  EXPECT_EQ(effects_.closed, 1);
  EXPECT_EQ(std::get<SubmitAnswer>(*again).sweep, SweepId{2});
}

TEST_F(ControlLoopTest, WatchersAreToldThatNothingCanBeStored) {
  ASSERT_TRUE(Submit("r1").ok());
  while (effects_.published == 0) std::this_thread::yield();
  const control::ProgressReport before = effects_.TakeReports().back();
  store_.failure = absl::UnavailableError("disk full");
  store_.failures = 1;
  ASSERT_TRUE(Register().ok());
  std::optional<control::ProgressReport> told;
  for (const control::ProgressReport& report : effects_.TakeReports()) {
    if (report.waiting_for.find("disk full") == std::string::npos) continue;
    told = report;
  }
  ASSERT_TRUE(told.has_value());
  EXPECT_FALSE(told->can_run);
  // What waits to be stored is not told.
  EXPECT_EQ(told->trials, before.trials);
  bool recovered = false;
  while (!recovered) {
    for (const control::ProgressReport& report : effects_.TakeReports()) {
      recovered = report.can_run;
    }
    std::this_thread::yield();
  }
}

TEST_F(ControlLoopTest, StopAnswersWhatComesAfterIt) {
  loop_->Stop();
  EXPECT_TRUE(absl::IsUnavailable(Submit("r1").status()));
  loop_->Stop();
}

TEST_F(ControlLoopTest, StopDoesNotWaitForADiskThatStaysFull) {
  store_.failure = absl::UnavailableError("disk full");
  store_.failures = 1'000'000;
  auto answer = std::make_shared<std::promise<absl::StatusOr<Answer>>>();
  loop_->Post(
      control::SubmitSweep{control::MakeSweep(1, 1, 1), 0, "r1", false, {}, {}},
      [answer](absl::StatusOr<Answer> given) {
        answer->set_value(std::move(given));
      });
  while (store_.commits < 2) std::this_thread::yield();
  loop_->Stop();
  EXPECT_FALSE(answer->get_future().get().ok());
  EXPECT_EQ(*store_.reader().CountSweeps(), 0);
}

}  // namespace
}  // namespace leadline
