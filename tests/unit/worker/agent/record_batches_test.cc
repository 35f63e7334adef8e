#include "worker/agent/record_batches.h"

#include <gtest/gtest.h>

#include "tests/support/scratch_folder.h"

namespace leadline::agent {
namespace {

std::string End(const std::string& message) {
  return R"({"event":"end","time_s":1,"outcome":"failed","kind":"","message":")" +
         message + "\"}\n";
}

TEST(RecordReader, GivesEveryLineOnceInBatchesBelowTheirLimit) {
  const ScratchFolder folder;
  const auto file = folder.path() / "events.jsonl";
  constexpr int kLines = 500;
  for (int i = 0; i < kLines; ++i) Append(file, End(std::string(5000, 'm')));
  RecordReader reader(std::make_unique<EventTail>(file));
  int64_t next = 1;
  int batches = 0;
  while (true) {
    const auto batch = reader.NextBatch();
    ASSERT_TRUE(batch.ok());
    if (batch->records().empty()) break;
    ++batches;
    EXPECT_LE(batch->ByteSizeLong(), RecordReader::kBatchBytes);
    for (const auto& record : batch->records()) {
      EXPECT_EQ(record.sequence(), next++);
    }
    EXPECT_EQ(reader.sequence(), next - 1);
  }
  EXPECT_EQ(next, kLines + 1);
  EXPECT_GT(batches, 5);
}

TEST(RecordReader, ALargeRecordComesAlone) {
  const ScratchFolder folder;
  const auto file = folder.path() / "events.jsonl";
  Append(file, End("a") + End(std::string(800'000, 'm')) + End("b"));
  RecordReader reader(std::make_unique<EventTail>(file));
  EXPECT_EQ(reader.NextBatch()->records_size(), 1);
  EXPECT_EQ(reader.NextBatch()->records_size(), 1);
  EXPECT_EQ(reader.NextBatch()->records_size(), 1);
  EXPECT_EQ(reader.NextBatch()->records_size(), 0);
}

TEST(RecordReader, GivesOutAgainWhatWasNotAcknowledged) {
  const ScratchFolder folder;
  const auto file = folder.path() / "events.jsonl";
  for (int i = 0; i < 300; ++i) Append(file, End(std::string(2000, 'm')));
  RecordReader reader(std::make_unique<EventTail>(file));
  // The first batch leaves a record that was read and did not fit.
  ASSERT_GT(reader.NextBatch()->records_size(), 0);
  ASSERT_TRUE(reader.SeekAfter(3).ok());
  EXPECT_EQ(reader.sequence(), 3);
  EXPECT_EQ(reader.NextBatch()->records(0).sequence(), 4);
}

TEST(RecordReader, GoesOnWhereAnotherLeftOffAndKeepsTheLastItPassedOver) {
  const ScratchFolder folder;
  const auto file = folder.path() / "events.jsonl";
  for (const char* text : {"a", "b", "c"}) Append(file, End(text));
  RecordReader reader(std::make_unique<EventTail>(file));
  EXPECT_FALSE(reader.passed_over());
  ASSERT_TRUE(reader.SeekAfter(2).ok());
  EXPECT_EQ(reader.passed_over()->end().message(), "b");
  const auto batch = reader.NextBatch();
  ASSERT_EQ(batch->records_size(), 1);
  EXPECT_EQ(batch->records(0).sequence(), 3);
  // There are not so many.
  ASSERT_TRUE(reader.SeekAfter(100).ok());
  EXPECT_EQ(reader.sequence(), 3);
  Append(file, End("d"));
  EXPECT_EQ(reader.NextBatch()->records(0).sequence(), 4);
}

TEST(RecordReader, HoldsNothingForAFileThatIsNotThere) {
  const ScratchFolder folder;
  RecordReader reader(
      std::make_unique<EventTail>(folder.path() / "events.jsonl"));
  ASSERT_TRUE(reader.NextBatch().ok());
  EXPECT_EQ(reader.sequence(), 0);
}

}  // namespace
}  // namespace leadline::agent
