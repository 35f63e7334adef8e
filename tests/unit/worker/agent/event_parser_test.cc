#include "worker/agent/event_parser.h"

#include <cmath>
#include <string>

#include <absl/strings/escaping.h>
#include <gtest/gtest.h>

namespace leadline::agent {
namespace {

v1::TrainerRecord Parse(std::string text) {
  return ParseEvent(EventLine{7, std::move(text), false});
}

const std::string kHead = R"({"sequence":7,"time_s":1.5,)";

std::string Step(const std::string& values) {
  return kHead + R"("event":"step","step":10,"tokens":640,"values":)" + values +
         R"(,"learning_rate":0.001,"step_seconds":0.01,"tokens_per_second":5})";
}

TEST(EventParser, ReadsAStep) {
  const auto record =
      Parse(Step(R"({"train_loss":[2.5,"nan"],"gradient_norm":["inf","-inf"],)"
                 R"("clip_factor":[1,1]})"));
  ASSERT_TRUE(record.has_step()) << record.ShortDebugString();
  EXPECT_EQ(record.sequence(), 7);
  EXPECT_EQ(record.time_s(), 1.5);
  EXPECT_EQ(record.step().step(), 10);
  EXPECT_EQ(record.step().train_loss(0), 2.5);
  EXPECT_TRUE(std::isnan(record.step().train_loss(1)));
  EXPECT_EQ(record.step().gradient_norm(1), -INFINITY);
}

TEST(EventParser, NumbersReadBackBitForBit) {
  const auto record =
      Parse(Step(R"({"train_loss":[5e-324,0.1,1.7976931348623157e308],)"
                 R"("gradient_norm":[],"clip_factor":[]})"));
  ASSERT_TRUE(record.has_step());
  EXPECT_EQ(record.step().train_loss(0), 5e-324);
  EXPECT_EQ(record.step().train_loss(1), 0.1);
  EXPECT_EQ(record.step().train_loss(2), 1.7976931348623157e308);
}

TEST(EventParser, ReadsAStart) {
  const auto record = Parse(
      kHead +
      R"("event":"start","version":"1","commit":"c",)"
      R"("settings_hash":"s","data_hash":"d","seeds":[0,9223372036854775807],)"
      R"("device":"cpu","threads":1,"numerics":"n","parameters":5,)"
      R"("tokens_per_step":6,"libraries":{"torch":"2.11.0"}})");
  ASSERT_TRUE(record.has_start()) << record.ShortDebugString();
  EXPECT_EQ(record.start().seeds(1), 9223372036854775807);
  EXPECT_EQ(record.start().libraries(), R"({"torch":"2.11.0"})");
}

TEST(EventParser, ReadsAnEvaluationWithItsWindows) {
  const auto record =
      Parse(kHead + R"("event":"evaluation","step":5,"split":"validation",)"
                    R"("kind":"fixed","values":{"loss":[1,2]},)"
                    R"("windows":[[1,2,3],[4,5,6]]})");
  ASSERT_TRUE(record.has_evaluation()) << record.ShortDebugString();
  ASSERT_EQ(record.evaluation().windows_size(), 2);
  EXPECT_EQ(record.evaluation().windows(1).values(2), 6);
}

TEST(EventParser, ReadsRaggedMapsAndPackedVectors) {
  const float numbers[] = {0.5F, -2.0F};
  const std::string packed = absl::Base64Escape(
      std::string(reinterpret_cast<const char*>(numbers), sizeof numbers));
  const auto record = Parse(kHead +
                            R"("event":"routing","step":5,"values":{)"
                            R"("route.map":[[1],[0.25,0.75]],)"
                            R"("route.sources":{"names":["e","x","u0"],)"
                            R"("rows":[[0,1],[0,1,2,3]]},)"
                            R"("route.entropy":[0,0.5],"nothing":null,)"
                            R"("packed":{"shape":[2,1],"f32":")" +
                            packed + R"("}},"replica":1})");
  ASSERT_TRUE(record.has_routing()) << record.ShortDebugString();
  ASSERT_EQ(record.routing().map_size(), 2);
  EXPECT_EQ(record.routing().map(1).weights(1), 0.75);
  EXPECT_EQ(record.routing().map(1).sources(1), "u0");
  ASSERT_EQ(record.routing().statistics_size(), 2);
  for (const auto& statistic : record.routing().statistics()) {
    if (statistic.name() == "packed") {
      EXPECT_EQ(statistic.values(1), -2.0);
    }
  }
}

TEST(EventParser, PackedNumbersAreReadAsTheirShortestDecimals) {
  const float number = 0.1F;
  const std::string packed = absl::Base64Escape(
      std::string(reinterpret_cast<const char*>(&number), sizeof number));
  const auto record =
      Parse(kHead +
            R"("event":"routing","step":5,"replica":1,"values":{)"
            R"("a":{"shape":[1],"f32":")" +
            packed + R"("}}})");
  ASSERT_TRUE(record.has_routing()) << record.ShortDebugString();
  EXPECT_EQ(record.routing().statistics(0).values(0), 0.1);
}

TEST(EventParser, AMapTooLargeToSendLeavesTheFigures) {
  // The deepest model with an update a source.
  std::string rows = "[";
  std::string spans = "[";
  std::string names = "[";
  for (int q = 0; q < 513; ++q) {
    const std::string comma = q == 0 ? "" : ",";
    rows += comma + "[0.5";
    for (int j = 0; j < q; ++j) rows += ",0";
    rows += "]";
    spans += comma + "[0," + std::to_string(q + 1) + "]";
    names += comma + "\"u" + std::to_string(q) + "\"";
  }
  const auto record =
      Parse(kHead +
            R"("event":"routing","step":5,"replica":1,"values":{)"
            R"("route.entropy":[0.5],"route.map":)" +
            rows + R"(],"route.sources":{"names":)" + names + R"(],"rows":)" +
            spans + "]}}}");
  ASSERT_TRUE(record.has_routing()) << record.ShortDebugString();
  EXPECT_EQ(record.routing().map_size(), 0);
  EXPECT_EQ(record.routing().statistics_size(), 1);
}

TEST(EventParser, ReadsAResultWhoseOptionalValuesAreNull) {
  const auto record = Parse(
      kHead + R"("event":"result","replica":0,"seed":3,)"
              R"("validation_loss":1.25,"test_loss":null,)"
              R"("best_validation_loss":1.2,"best_step":50,"unit":"nats/char",)"
              R"("steps":100,"tokens":6400,"seconds":1.5,"peak_bytes":9,)"
              R"("parameters":10})");
  ASSERT_TRUE(record.has_result()) << record.ShortDebugString();
  EXPECT_FALSE(record.result().result().has_test_loss());
  EXPECT_EQ(record.result().result().best_step(), 50);
  EXPECT_EQ(record.result().result().determinism(), "");
}

TEST(EventParser, ReadsHowFarAResultRepeats) {
  const auto record =
      Parse(kHead + R"("event":"result","replica":0,"seed":3,)"
                    R"("validation_loss":1.25,"unit":"nats/char",)"
                    R"("steps":100,"tokens":6400,"seconds":1.5,"peak_bytes":9,)"
                    R"("parameters":10,"determinism":"within_tolerance"})");
  ASSERT_TRUE(record.has_result()) << record.ShortDebugString();
  EXPECT_EQ(record.result().result().determinism(), "within_tolerance");
}

TEST(EventParser, ReadsAnEndWithoutAKind) {
  const auto record =
      Parse(kHead + R"("event":"end","outcome":"succeeded","kind":null,)"
                    R"("message":""})");
  ASSERT_TRUE(record.has_end());
  EXPECT_EQ(record.end().outcome(), "succeeded");
}

TEST(EventParser, UnknownFieldsAreLetBe) {
  EXPECT_TRUE(Parse(kHead + R"("event":"end","outcome":"succeeded",)"
                            R"("kind":"","message":"","later":[1]})")
                  .has_end());
}

const std::string kMap = kHead +
                         R"("event":"routing","step":1,"replica":0,"values":)"
                         R"({"route.map":[[0.5,0.5],[1]],"route.sources":)";

class UnreadableLine : public ::testing::TestWithParam<std::string> {};

TEST_P(UnreadableLine, KeepsItsPlace) {
  const auto record = Parse(GetParam());
  ASSERT_TRUE(record.has_unreadable()) << record.ShortDebugString();
  EXPECT_EQ(record.sequence(), 7);
  EXPECT_FALSE(record.unreadable().message().empty());
  EXPECT_LT(record.ByteSizeLong(), 400U);
}

std::string Brackets(int depth) {
  return kHead + R"("event":"step","x":)" + std::string(depth, '[');
}

INSTANTIATE_TEST_SUITE_P(
    Hostile, UnreadableLine,
    ::testing::Values(
        "", "garbage", "[]", "7", "null", "{}", Brackets(200'000),
        std::string(1 << 20, '['), std::string("\0\0", 2), "\xff\xfe{}",
        R"({"event":"step"})", R"({"event":7,"time_s":1})",
        kHead + R"("event":"launch_missiles"})",
        kHead + R"("event":"end","event":"end","outcome":"","kind":""})",
        Step(R"({"train_loss":"x","gradient_norm":[],"clip_factor":[]})"),
        Step(R"({"train_loss":[1],"gradient_norm":[]})"), Step(R"([])"),
        kHead + R"("event":"checkpoint","step":1e3,"folder":"","bytes":1,)"
                R"("seconds":1})",
        kHead + R"("event":"checkpoint","step":18446744073709551616,)"
                R"("folder":"","bytes":1,"seconds":1})",
        kHead + R"("event":"checkpoint","step":9223372036854775808,)"
                R"("folder":"","bytes":1,"seconds":1})",
        kHead + R"("event":"routing","step":1,"replica":0,"values":)"
                R"({"a":{"shape":[4294967296,4294967296],"f32":""}}})",
        kHead + R"("event":"routing","step":1,"replica":0,"values":)"
                R"({"a":{"shape":[3],"f32":"AAAA"}}})",
        kHead + R"("event":"routing","step":1,"replica":0,"values":)"
                R"({"a":{"shape":[-1],"f32":""}}})",
        kHead + R"("event":"routing","step":1,"replica":0,"values":)"
                R"({"a":{"shape":[1],"f32":"!!!!"}}})",
        kHead + R"("event":"routing","step":1,"replica":0,"values":)"
                R"({"route.map":[[1,2]],"route.sources":[["e"]]}})",
        kMap + R"({"names":["e"],"rows":[[0,1]]}}})",
        kMap + R"({"names":["e"],"rows":[[0,1],[0,1]]}}})",
        kMap + R"({"names":["e","f"],"rows":[[0,2],[0,3]]}}})",
        kMap + R"({"names":["e","f"],"rows":[[0,2],[-1,1]]}}})",
        kMap + R"({"names":["e","f"],"rows":[[0,2],[1,0]]}}})",
        kMap + R"({"names":["e","f"],"rows":[[0,2],[0]]}}})",
        kMap + R"({"names":["e","f"],"rows":[[0,2],[0.5,1]]}}})",
        kMap + R"({"names":["e",7],"rows":[[0,2],[0,1]]}}})",
        kMap + R"({"names":"e","rows":[[0,2],[0,1]]}}})", kMap + "null}}"));

TEST(EventParser, ALineThatWasTooLongKeepsItsPlace) {
  const auto record = ParseEvent(EventLine{9, "", true});
  EXPECT_TRUE(record.has_unreadable());
  EXPECT_EQ(record.sequence(), 9);
}

TEST(EventParser, ARecordThatGrowsPastAMessageIsNotSent) {
  std::string values = R"({"train_loss":[0)";
  for (int i = 0; i < 400'000; ++i) values += ",1";
  values += R"(],"gradient_norm":[],"clip_factor":[]})";
  ASSERT_LT(values.size(), EventTail::kLongestLine);
  EXPECT_TRUE(Parse(Step(values)).has_unreadable());
}

}  // namespace
}  // namespace leadline::agent
