#include "worker/trainer/event_writer.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <system_error>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace leadline::trainer {
namespace {

using nlohmann::ordered_json;
using testing::ElementsAre;

class EventWriterTest : public testing::Test {
 protected:
  EventWriterTest() {
    std::string pattern = testing::TempDir() + "events_XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~EventWriterTest() override { std::filesystem::remove_all(folder_); }

  std::vector<std::string> Lines() const {
    std::ifstream file(folder_ / "events.jsonl");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  static std::vector<std::string> Keys(const std::string& line) {
    std::vector<std::string> keys;
    const ordered_json object = ordered_json::parse(line);
    for (const auto& [key, value] : object.items()) {
      keys.push_back(key);
    }
    return keys;
  }

  std::filesystem::path folder_;
};

TEST_F(EventWriterTest, FieldsStandInTheOrderOfTheContract) {
  EventWriter events = EventWriter::InFolder(folder_);
  events.Write(StartEvent{.seeds = {1, 2}, .libraries = {{"torch", "2"}}});
  events.Write(StepEvent{.step = 10, .train_loss = {1.5}});
  events.Write(
      EvaluationEvent{.fixed = true, .loss = {1.0}, .windows = {{1.0}}});
  events.Write(EvaluationEvent{.fixed = false, .loss = {1.0}});
  events.Write(RoutingEvent{.values = {{"route.map", "[[1.0]]"}}});
  events.Write(ReplicaEndEvent{.state = ReplicaState::kDiverged});
  events.Write(ResultEvent{.test_loss = 2.0});
  events.Write(EndEvent{.outcome = AttemptOutcome::kFailed,
                        .kind = FailureKind::kOom,
                        .message = "full"});
  const std::vector<std::string> lines = Lines();
  ASSERT_EQ(lines.size(), 8U);
  EXPECT_THAT(Keys(lines[0]),
              ElementsAre("event", "sequence", "time_s", "version", "commit",
                          "settings_hash", "data_hash", "seeds", "device",
                          "threads", "numerics", "parameters",
                          "tokens_per_step", "libraries", "data"));
  EXPECT_THAT(Keys(lines[1]), ElementsAre("event", "sequence", "time_s", "step",
                                          "tokens", "values", "learning_rate",
                                          "step_seconds", "tokens_per_second"));
  EXPECT_THAT(Keys(lines[2]), ElementsAre("event", "sequence", "time_s", "step",
                                          "split", "kind", "values", "windows",
                                          "tokens_per_second", "peak_bytes"));
  EXPECT_THAT(Keys(lines[3]),
              ElementsAre("event", "sequence", "time_s", "step", "split",
                          "kind", "values", "tokens_per_second", "peak_bytes"));
  EXPECT_THAT(Keys(lines[4]), ElementsAre("event", "sequence", "time_s", "step",
                                          "values", "replica"));
  EXPECT_THAT(Keys(lines[5]),
              ElementsAre("event", "sequence", "time_s", "replica", "seed",
                          "state", "step", "reason"));
  EXPECT_THAT(
      Keys(lines[6]),
      ElementsAre("event", "sequence", "time_s", "replica", "seed",
                  "validation_loss", "test_loss", "best_validation_loss",
                  "best_step", "unit", "steps", "tokens", "seconds",
                  "peak_bytes", "parameters", "determinism"));
  EXPECT_THAT(Keys(lines[7]), ElementsAre("event", "sequence", "time_s",
                                          "outcome", "kind", "message"));
  EXPECT_EQ(ordered_json::parse(lines[7])["kind"], "oom");
}

TEST_F(EventWriterTest, SequenceIsTheNumberOfTheLine) {
  EventWriter events = EventWriter::InFolder(folder_);
  for (int i = 0; i < 3; ++i) events.Write(EndEvent{});
  int64_t number = 0;
  for (const std::string& line : Lines()) {
    EXPECT_EQ(ordered_json::parse(line)["sequence"], ++number);
  }
}

TEST_F(EventWriterTest, FolderOfAnotherAttemptIsRefused) {
  EventWriter events = EventWriter::InFolder(folder_);
  EXPECT_THROW(EventWriter::InFolder(folder_), std::system_error);
  events.Write(EndEvent{});
  { const EventWriter gone = std::move(events); }
  EXPECT_THROW(EventWriter::InFolder(folder_), std::system_error);
}

TEST_F(EventWriterTest, MessagesAreCutBetweenCharacters) {
  EventWriter events = EventWriter::InFolder(folder_);
  std::string message = "x";
  for (int i = 0; i < 4000; ++i) message += "\xC3\xA9";
  events.Write(EndEvent{.message = message});
  const std::string read =
      ordered_json::parse(Lines()[0])["message"].get<std::string>();
  EXPECT_LE(read.size(), 4096U);
  EXPECT_EQ(read.substr(read.size() - 2), "\xC3\xA9");
}

TEST(JsonNumber, ReadsBackBitForBit) {
  for (const double value :
       {0.1, 1.0 / 3, -0.0, 3.0, 5e-324, 1.7976931348623157e308, 1e22, 1e21,
        123456789012345680.0, 2.2250738585072014e-308}) {
    const std::string text = JsonNumber(value);
    const auto read = nlohmann::json::parse(text);
    ASSERT_TRUE(read.is_number_float()) << text;
    EXPECT_EQ(std::bit_cast<uint64_t>(read.get<double>()),
              std::bit_cast<uint64_t>(value))
        << text;
  }
}

TEST(JsonNumber, WhatIsNotFiniteIsAText) {
  EXPECT_EQ(JsonNumber(std::nan("")), "\"nan\"");
  EXPECT_EQ(JsonNumber(std::numeric_limits<double>::infinity()), "\"inf\"");
  EXPECT_EQ(JsonNumber(-std::numeric_limits<double>::infinity()), "\"-inf\"");
}

TEST(JsonNumbers, LongVectorsArePackedFloats) {
  EXPECT_EQ(JsonNumbers(std::vector<double>(64, 1.0)).front(), '[');
  std::vector<double> many(65, 0.0);
  many[0] = 1.0;    // 00 00 80 3f
  many[64] = -2.0;  // 00 00 00 c0
  const auto json = nlohmann::json::parse(JsonNumbers(many));
  EXPECT_EQ(json["shape"], nlohmann::json::parse("[65]"));
  const std::string text = json["f32"];
  EXPECT_EQ(text.size(), (65U * 4 + 2) / 3 * 4);
  EXPECT_EQ(text.substr(0, 8), "AACAPwAA");
  EXPECT_EQ(text.substr(text.size() - 8), "AAAAAMA=");
}

}  // namespace
}  // namespace leadline::trainer
