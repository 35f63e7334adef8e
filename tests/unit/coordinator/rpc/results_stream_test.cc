#include <gmock/gmock.h>

#include "tests/unit/coordinator/rpc/results_world.h"

namespace leadline::rpc {
namespace {

using ::testing::HasSubstr;

constexpr auto kInvalid = grpc::StatusCode::INVALID_ARGUMENT;

TEST_F(ResultsServiceTest, HeaderComesFirstThenCellsInOrder) {
  FinishFirstCell();
  std::vector<v1::ResultsPart> parts;
  ASSERT_TRUE(Results({}, parts).ok());
  ASSERT_EQ(parts.size(), 3U);
  const v1::ResultsHeader& header = parts[0].header();
  EXPECT_EQ(header.sweep(), "s1");
  EXPECT_EQ(header.name(), "depth study");
  EXPECT_EQ(header.database(), "/state/leadline.db");
  EXPECT_EQ(header.metric(), "validation_loss");
  EXPECT_EQ(header.split(), "validation");
  EXPECT_EQ(header.unit(), "nats/char");
  EXPECT_FALSE(header.complete());
  const v1::CellResult& cell = parts[1].cell();
  EXPECT_EQ(cell.cell(), "s1.1");
  EXPECT_EQ(cell.depth(), 4);
  EXPECT_EQ(cell.method(), "wav(rho=2)");
  EXPECT_EQ(cell.n(), 2);
  EXPECT_EQ(cell.planned(), 2);
  EXPECT_EQ(cell.mean(), 1.5);
  EXPECT_DOUBLE_EQ(cell.sd(), 0.70710678118654757);
  EXPECT_EQ(cell.min(), 1.0);
  EXPECT_EQ(cell.max(), 2.0);
  EXPECT_EQ(cell.floor(), 1.25);
  EXPECT_EQ(cell.axes().at("depth"), "4");
  ASSERT_EQ(cell.values_size(), 2);
  EXPECT_EQ(cell.values(1).trial(), "s1.1.1");
  EXPECT_EQ(cell.values(1).seed(), 10);
  EXPECT_EQ(cell.values(1).value(), 2.0);
  EXPECT_FALSE(parts[2].cell().has_mean());
  EXPECT_FALSE(parts[2].cell().has_sd());
}

TEST_F(ResultsServiceTest, ManyCellsArriveAllAndOnce) {
  ASSERT_TRUE(test::CommitOne(store(), test::MakeSweep(1, 5000, 1)).ok());
  std::vector<v1::ResultsPart> parts;
  ASSERT_TRUE(Results({}, parts).ok());
  ASSERT_EQ(parts.size(), 5001U);
  for (int i = 1; i <= 5000; ++i) {
    ASSERT_EQ(parts[static_cast<size_t>(i)].cell().cell(),
              "s1." + std::to_string(i));
  }
}

TEST_F(ResultsServiceTest, TestSplitComesOnlyWhenAskedFor) {
  FinishFirstCell();
  v1::ResultsRequest request;
  request.set_split("test");
  std::vector<v1::ResultsPart> parts;
  ASSERT_TRUE(Results(request, parts).ok());
  EXPECT_EQ(parts[0].header().metric(), "test_loss");
  EXPECT_EQ(parts[1].cell().mean(), 2.0);
  EXPECT_FALSE(parts[1].cell().has_floor());

  request.set_metric("validation_loss");
  parts.clear();
  const grpc::Status refused = Results(request, parts);
  EXPECT_EQ(refused.error_code(), kInvalid);
  EXPECT_THAT(refused.error_message(), HasSubstr("best_validation_loss"));
}

TEST_F(ResultsServiceTest, BestLossIsAMetricOfItsOwn) {
  FinishFirstCell();
  v1::ResultsRequest request;
  request.set_metric("best_validation_loss");
  std::vector<v1::ResultsPart> parts;
  ASSERT_TRUE(Results(request, parts).ok());
  EXPECT_EQ(parts[0].header().split(), "validation");
  EXPECT_EQ(parts[1].cell().mean(), 1.25);
}

TEST_F(ResultsServiceTest, SweepsAreFoundByIdByPrefixAndByAge) {
  std::vector<v1::ResultsPart> parts;
  EXPECT_EQ(Results({}, parts).error_code(), grpc::StatusCode::NOT_FOUND);
  FinishFirstCell();
  storage::AddSweep wide = test::MakeSweep(2, 1, 1);
  wide.sweep.name = "depth and width";
  ASSERT_TRUE(test::CommitOne(store(), wide).ok());
  const auto sweep_of = [&](const std::string& text) {
    v1::ResultsRequest request;
    request.set_sweep(text);
    parts.clear();
    const grpc::Status status = Results(request, parts);
    return status.ok() ? parts.at(0).header().sweep() : status.error_message();
  };
  EXPECT_EQ(sweep_of(""), "s2");
  EXPECT_EQ(sweep_of("s1"), "s1");
  EXPECT_EQ(sweep_of("depth s"), "s1");
  EXPECT_THAT(sweep_of("depth"), HasSubstr("s2, s1"));
  EXPECT_THAT(sweep_of("s9"), HasSubstr("s9"));
  EXPECT_THAT(sweep_of("nothing"), HasSubstr("nothing"));
}

TEST_F(ResultsServiceTest, EqualLossesAreTold) {
  FinishFirstCell();
  const AttemptKey attempt = test::Attempt(1, 2, 1);
  const std::vector<TrialId> trials = {test::Trial(1, 2, 0),
                                       test::Trial(1, 2, 1)};
  ASSERT_TRUE(test::Run(store(), attempt, trials).ok());
  ASSERT_TRUE(test::Succeed(store(), trials[0], attempt, 1.25).ok());
  ASSERT_TRUE(test::Succeed(store(), trials[1], attempt, 1.25).ok());
  std::vector<v1::ResultsPart> parts;
  ASSERT_TRUE(Results({}, parts).ok());
  ASSERT_EQ(parts[0].header().warnings_size(), 1);
  EXPECT_THAT(parts[0].header().warnings(0),
              HasSubstr("s1.2 (seeds 0 and 10)"));
}

TEST_F(ResultsServiceTest, ACellOfManySeedsFitsAMessage) {
  storage::AddSweep add = test::MakeSweep(1, 1, 30'000);
  for (auto& trial : add.trials) trial.state = TrialState::kRunning;
  ASSERT_TRUE(test::CommitOne(store(), add).ok());
  const AttemptKey attempt = test::Attempt(1, 1, 1);
  std::vector<storage::Change> changes = {test::Start(attempt)};
  for (const auto& trial : add.trials) {
    changes.push_back(storage::AddResult{
        test::MakeResult(trial.id, attempt, 1.0 / (1 + trial.seed))});
    changes.push_back(storage::MoveTrial{trial.id, TrialState::kRunning,
                                         TrialState::kSucceeded, ""});
  }
  ASSERT_TRUE(store().Commit(changes).ok());
  std::vector<v1::ResultsPart> parts;
  ASSERT_TRUE(Results({}, parts).ok());
  EXPECT_EQ(parts[1].cell().n(), 30'000);
  EXPECT_EQ(parts[1].cell().values_size(), 10'000);
  EXPECT_LT(parts[1].ByteSizeLong(), size_t{1} << 20);
}

TEST_F(ResultsServiceTest, AReaderThatLeavesEndsTheStream) {
  ASSERT_TRUE(test::CommitOne(store(), test::MakeSweep(1, 5000, 1)).ok());
  grpc::ClientContext context;
  const auto stream = stub_->Results(&context, {});
  v1::ResultsPart part;
  ASSERT_TRUE(stream->Read(&part));
  context.TryCancel();
  while (stream->Read(&part)) {
  }
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(ResultsServiceTest, LogsComeInPiecesUnderTheLimit) {
  FinishFirstCell();
  for (int i = 0; i < 100'000; ++i) logs_.text += std::to_string(i) + "\n";
  v1::LogRequest request;
  request.set_trial("s1.1.1");
  std::vector<v1::LogChunk> chunks;
  ASSERT_TRUE(ReadLog(request, chunks).ok());
  std::string all;
  for (const v1::LogChunk& chunk : chunks) {
    EXPECT_LT(chunk.data().size(), size_t{64} << 10);
    EXPECT_EQ(chunk.attempt(), "s1.1.1@1");
    EXPECT_EQ(chunk.stream(), "stderr");
    all += chunk.data();
  }
  EXPECT_EQ(all, logs_.text);
  EXPECT_EQ(logs_.last_node(), "node-a");
  EXPECT_EQ(logs_.last().attempt, test::Attempt(1, 1, 1));
}

TEST_F(ResultsServiceTest, AnEmptyLogIsOneEmptyPiece) {
  FinishFirstCell();
  v1::LogRequest request;
  request.set_trial("s1.1.1");
  request.set_stream("events");
  std::vector<v1::LogChunk> chunks;
  ASSERT_TRUE(ReadLog(request, chunks).ok());
  ASSERT_EQ(chunks.size(), 1U);
  EXPECT_EQ(chunks[0].data(), "");
  EXPECT_EQ(chunks[0].stream(), "events");
}

TEST_F(ResultsServiceTest, LogsThatCannotBeReadSayWhy) {
  FinishFirstCell();
  std::vector<v1::LogChunk> chunks;
  v1::LogRequest request;
  request.set_trial("s1.2.0");
  EXPECT_THAT(ReadLog(request, chunks).error_message(),
              HasSubstr("no attempt yet"));
  request.set_trial("s1.1.0");
  request.set_attempt(4);
  EXPECT_THAT(ReadLog(request, chunks).error_message(),
              HasSubstr("its last is 1"));
  request.set_attempt(0);
  request.set_rank(1);
  EXPECT_THAT(ReadLog(request, chunks).error_message(),
              HasSubstr("has no rank 1; it has 1"));
  request.set_rank(0);
  request.set_stream("../../etc/passwd");
  EXPECT_EQ(ReadLog(request, chunks).error_code(), kInvalid);
  request.set_stream("stdout");
  logs_.error = absl::UnavailableError("node node-a is not connected");
  const grpc::Status gone = ReadLog(request, chunks);
  EXPECT_EQ(gone.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(gone.error_message(), HasSubstr("node-a"));
  v1::Problems details;
  ASSERT_TRUE(details.ParseFromString(gone.error_details()));
  EXPECT_EQ(details.code(), "node_away");
}

TEST_F(ResultsServiceTest, LogsAreReadFromAPlaceOn) {
  FinishFirstCell();
  logs_.text = "0123456789";
  v1::LogRequest request;
  request.set_trial("s1.1.1");
  request.set_offset(7);
  std::vector<v1::LogChunk> chunks;
  ASSERT_TRUE(ReadLog(request, chunks).ok());
  ASSERT_EQ(chunks.size(), 1U);
  EXPECT_EQ(chunks[0].data(), "789");
  EXPECT_EQ(chunks[0].offset(), 7);
  request.set_tail(1);
  EXPECT_EQ(ReadLog(request, chunks).error_code(), kInvalid);
}

TEST_F(ResultsServiceTest, TheLastLinesOfALogAreFoundFromItsEnd) {
  FinishFirstCell();
  v1::LogRequest request;
  request.set_trial("s1.1.1");
  const auto tail = [&](int64_t lines) {
    request.set_tail(lines);
    std::vector<v1::LogChunk> chunks;
    EXPECT_TRUE(ReadLog(request, chunks).ok());
    std::string all;
    for (const v1::LogChunk& chunk : chunks) all += chunk.data();
    return all;
  };
  logs_.text = "one\ntwo\nthree\n";
  EXPECT_EQ(tail(1), "three\n");
  EXPECT_EQ(tail(2), "two\nthree\n");
  EXPECT_EQ(tail(3), logs_.text);
  EXPECT_EQ(tail(9), logs_.text);
  logs_.text = "one\ntwo";
  EXPECT_EQ(tail(1), "two");
  logs_.text = "\n\n\n";
  EXPECT_EQ(tail(2), "\n\n");
  logs_.text = "";
  EXPECT_EQ(tail(1), "");
  logs_.text = "first\n" + std::string(300'000, 'x') + "\nlast\n";
  EXPECT_EQ(tail(1), "last\n");
  EXPECT_EQ(tail(2), logs_.text.substr(6));
  EXPECT_EQ(tail(3), logs_.text);
}

}  // namespace
}  // namespace leadline::rpc
