#include "worker/agent/event_tail.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/scratch_folder.h"

namespace leadline::agent {
namespace {

class EventTailTest : public ::testing::Test {
 protected:
  std::vector<std::string> ReadAll(EventTail& tail) {
    std::vector<std::string> lines;
    while (true) {
      const auto line = tail.Next();
      EXPECT_TRUE(line.ok()) << line.status();
      if (!line.ok() || !*line) return lines;
      lines.push_back((*line)->too_long ? "(too long)" : (*line)->text);
    }
  }

  ScratchFolder folder_;
  const std::filesystem::path file_ = folder_.path() / "events.jsonl";
};

using Lines = std::vector<std::string>;

TEST_F(EventTailTest, AFileThatIsNotThereHasNoLinesYet) {
  EventTail tail(file_);
  EXPECT_EQ(ReadAll(tail), Lines());
  Append(file_, "a\n");
  EXPECT_EQ(ReadAll(tail), Lines({"a"}));
}

TEST_F(EventTailTest, ALineCountsOnceItsNewlineIsThere) {
  EventTail tail(file_);
  Append(file_, "a\nhal");
  EXPECT_EQ(ReadAll(tail), Lines({"a"}));
  EXPECT_EQ(tail.sequence(), 1);
  Append(file_, "f");
  EXPECT_EQ(ReadAll(tail), Lines());
  Append(file_, "\n\n");
  EXPECT_EQ(ReadAll(tail), Lines({"half", ""}));
  EXPECT_EQ(tail.sequence(), 3);
}

TEST_F(EventTailTest, LinesAcrossBlocksAreWhole) {
  EventTail tail(file_);
  Lines expected;
  for (int i = 0; i < 40; ++i) {
    expected.push_back(
        std::string(10'000 + i, static_cast<char>('a' + i % 26)));
    Append(file_, expected.back() + "\n");
  }
  EXPECT_EQ(ReadAll(tail), expected);
}

TEST_F(EventTailTest, ALongLineKeepsItsPlaceAndTheNextIsRead) {
  EventTail tail(file_);
  Append(file_, "a\n" + std::string(10 << 20, 'x') + "\nb\n");
  EXPECT_EQ(ReadAll(tail), Lines({"a", "(too long)", "b"}));
  EXPECT_EQ(tail.sequence(), 3);
}

TEST_F(EventTailTest, TheLongestLineIsExactlyAMebibyte) {
  EventTail tail(file_);
  const std::string longest(EventTail::kLongestLine, 'x');
  Append(file_, longest + "\n" + longest + "x\nb\n");
  EXPECT_EQ(ReadAll(tail), Lines({longest, "(too long)", "b"}));
}

TEST_F(EventTailTest, ALongLineThatGrowsSlowlyIsSkippedToo) {
  EventTail tail(file_);
  for (int i = 0; i < 30; ++i) {
    Append(file_, std::string(100'000, 'x'));
    EXPECT_EQ(ReadAll(tail), Lines());
  }
  Append(file_, "\nb\n");
  EXPECT_EQ(ReadAll(tail), Lines({"(too long)", "b"}));
}

TEST_F(EventTailTest, GoesBackToAnyLine) {
  EventTail tail(file_);
  Lines all;
  for (int i = 0; i < 1000; ++i) {
    all.push_back(std::to_string(i));
    Append(file_, all.back() + "\n");
  }
  EXPECT_EQ(ReadAll(tail), all);
  for (const int64_t sequence : {999, 700, 512, 511, 255, 256, 1, 0}) {
    ASSERT_TRUE(tail.SeekAfter(sequence).ok());
    EXPECT_EQ(tail.sequence(), sequence);
    EXPECT_EQ(ReadAll(tail), Lines(all.begin() + sequence, all.end()));
  }
}

TEST_F(EventTailTest, GoesBackOverALongLine) {
  EventTail tail(file_);
  Append(file_, "a\n" + std::string(3 << 20, 'x') + "\nb\n");
  ReadAll(tail);
  ASSERT_TRUE(tail.SeekAfter(0).ok());
  EXPECT_EQ(ReadAll(tail), Lines({"a", "(too long)", "b"}));
}

TEST_F(EventTailTest, DoesNotGoForwardByCommand) {
  EventTail tail(file_);
  Append(file_, "a\nb\n");
  ASSERT_TRUE(tail.SeekAfter(1'000'000'000).ok());
  EXPECT_EQ(ReadAll(tail), Lines({"a", "b"}));
}

TEST_F(EventTailTest, ALinkInItsPlaceIsNotFollowed) {
  std::filesystem::create_symlink("/etc/passwd", file_);
  EventTail tail(file_);
  EXPECT_EQ(tail.Next().status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(EventTailTest, AFolderInItsPlaceIsAnErrorAndNoCrash) {
  std::filesystem::create_directory(file_);
  EventTail tail(file_);
  EXPECT_FALSE(tail.Next().ok());
}

}  // namespace
}  // namespace leadline::agent
