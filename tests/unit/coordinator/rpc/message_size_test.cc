// The largest answers there are, through a server with the limit of the real
// one: an answer in one message above it would fail.

#include <string>

#include <gtest/gtest.h>

#include "tests/unit/coordinator/rpc/results_world.h"

namespace leadline::rpc {
namespace {

constexpr size_t kMost = kMostMessageBytes;

class MessageSize : public ResultsServiceTest {
 protected:
  /// s1: 1,000 cells of 100 seeds, all with a result.
  void FinishHundredThousandTrials() {
    storage::AddSweep add = test::MakeSweep(1, 1'000, 100);
    for (auto& trial : add.trials) trial.state = TrialState::kRunning;
    ASSERT_TRUE(test::CommitOne(store(), add).ok());
    std::vector<storage::Change> changes;
    for (const auto& trial : add.trials) {
      const AttemptKey attempt = test::Attempt(1, trial.id.cell.number, 1);
      if (trial.id.seed_index == 0) changes.push_back(test::Start(attempt));
      changes.push_back(storage::AddResult{test::MakeResult(
          trial.id, attempt, 1.0 / static_cast<double>(2 + trial.seed))});
      changes.push_back(storage::MoveTrial{trial.id, TrialState::kRunning,
                                           TrialState::kSucceeded, ""});
    }
    ASSERT_TRUE(store().Commit(changes).ok());
  }
};

TEST_F(MessageSize, FiftyMegabytesOfLogComeInPieces) {
  FinishFirstCell();
  logs_.text.assign(50'000'000, 'x');
  v1::LogRequest request;
  request.set_trial("s1.1.1");
  std::vector<v1::LogChunk> chunks;
  const grpc::Status status = ReadLog(request, chunks);
  ASSERT_TRUE(status.ok()) << status.error_message();
  size_t bytes = 0;
  for (const v1::LogChunk& chunk : chunks) {
    EXPECT_LT(chunk.ByteSizeLong(), kMost);
    bytes += chunk.data().size();
  }
  EXPECT_EQ(bytes, 50'000'000U);
}

TEST_F(MessageSize, HundredThousandResultsComeInParts) {
  FinishHundredThousandTrials();
  std::vector<v1::ResultsPart> parts;
  const grpc::Status status = Results({}, parts);
  ASSERT_TRUE(status.ok()) << status.error_message();
  int64_t values = 0;
  for (const v1::ResultsPart& part : parts) {
    EXPECT_LT(part.ByteSizeLong(), kMost);
    values += part.cell().values_size();
  }
  EXPECT_EQ(values, 100'000);

  v1::ListTrialsRequest request;
  request.set_target("s1");
  request.set_limit(100'000);
  v1::ListTrialsReply page;
  grpc::ClientContext context;
  ASSERT_TRUE(stub_->ListTrials(&context, request, &page).ok());
  EXPECT_EQ(page.total(), 100'000);
  EXPECT_LT(page.ByteSizeLong(), kMost);
}

}  // namespace
}  // namespace leadline::rpc
