#include "worker/agent/attempt_message.h"

#include <gtest/gtest.h>

#include "tests/support/scratch_folder.h"
#include "worker/agent/attempt_folder.h"
#include "worker/agent/log_reader.h"

namespace leadline::agent {
namespace {

v1::Attempt Attempt(const std::string& cohort, int64_t number) {
  v1::Attempt attempt;
  attempt.set_cohort(cohort);
  attempt.set_number(number);
  return attempt;
}

v1::StartAttempt Order() {
  v1::StartAttempt order;
  *order.mutable_attempt() = Attempt("s1.2.c0", 3);
  (*order.mutable_settings())["depth"].set_integer(4);
  (*order.mutable_settings())["threads"].set_integer(1);
  (*order.mutable_settings())["lr"].set_number(1e-3);
  (*order.mutable_settings())["method"].set_word("wav");
  order.add_seeds(5);
  return order;
}

TEST(AttemptMessage, GoesThereAndBack) {
  const auto key = FromMessage(Attempt("s1.2.c0", 3));
  ASSERT_TRUE(key);
  EXPECT_EQ(ToText(*key), "s1.2.c0@3");
  EXPECT_EQ(ToMessage(*key).cohort(), "s1.2.c0");
}

TEST(AttemptMessage, IdsThatAreNotOursAreNone) {
  for (const char* cohort : {"", "s1", "../../etc", "s1.2.c0/..", "s01.2.c0",
                             "s1.2.c0 ", "s1.2.0"}) {
    EXPECT_FALSE(FromMessage(Attempt(cohort, 1))) << cohort;
  }
  EXPECT_FALSE(FromMessage(Attempt("s1.2.c0", 0)));
  EXPECT_FALSE(FromMessage(Attempt("s1.2.c0", -1)));
}

TEST(AttemptMessage, MakesAConfigurationOfAnOrder) {
  const auto config = ConfigFrom(Order());
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->settings.Number("lr"), 1e-3);
  EXPECT_EQ(config->settings.method(), "wav");
  EXPECT_EQ(config->seeds, std::vector<int64_t>{5});
}

TEST(AttemptMessage, RefusesOrdersThatCannotBe) {
  v1::StartAttempt order = Order();
  order.clear_seeds();
  EXPECT_FALSE(ConfigFrom(order).ok());
  for (int i = 0; i < 65; ++i) order.add_seeds(i);
  EXPECT_FALSE(ConfigFrom(order).ok());
  order = Order();
  (*order.mutable_settings())["rho"];
  EXPECT_FALSE(ConfigFrom(order).ok());
  order = Order();
  (*order.mutable_settings())["threads"].set_word("many");
  EXPECT_FALSE(ConfigFrom(order).ok());
}

TEST(AttemptFolder, ALeftoverOfThatNameIsMovedAside) {
  const ScratchFolder state;
  const auto folder =
      AttemptFolder(state.path(), *FromMessage(Attempt("s1.2.c0", 3)));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(MakeAttemptFolder(folder).ok());
    EXPECT_TRUE(std::filesystem::is_empty(folder));
    Append(folder / "mine", std::to_string(i));
  }
  EXPECT_TRUE(std::filesystem::exists(folder.string() + ".old-2/mine"));
}

TEST(AttemptFolder, AProcessRecordReadsBack) {
  const ScratchFolder folder;
  EXPECT_FALSE(ReadProcessRecord(folder.path()));
  ASSERT_TRUE(
      WriteProcessRecord(folder.path(), {"boot", 12, 345, 12, "s1.1.c0@1"})
          .ok());
  const auto record = ReadProcessRecord(folder.path());
  ASSERT_TRUE(record);
  EXPECT_EQ(record->boot_id, "boot");
  EXPECT_EQ(record->start_time, 345U);
}

TEST(AttemptFolder, ARecordThatWouldSignalEveryoneIsNone) {
  for (const char* text :
       {"", "{}",
        R"({"boot_id":"b","pid":1,"start_time":1,"pgid":1,"attempt":""})",
        R"({"boot_id":"b","pid":-5,"start_time":1,"pgid":-5,"attempt":""})",
        R"({"boot_id":"b","pid":"7","start_time":1,"pgid":7,"attempt":""})"}) {
    const ScratchFolder folder;
    Append(folder.path() / "process.json", text);
    EXPECT_FALSE(ReadProcessRecord(folder.path())) << text;
  }
}

TEST(LogReader, ReadsAPieceAndSaysWhenItIsTheLast) {
  const ScratchFolder state;
  const auto folder =
      AttemptFolder(state.path(), *FromMessage(Attempt("s1.2.c0", 3)));
  ASSERT_TRUE(MakeAttemptFolder(folder).ok());
  Append(folder / "stderr.log", std::string(100'000, 'e'));
  v1::ReadLogOrder order;
  *order.mutable_attempt() = Attempt("s1.2.c0", 3);
  order.set_request(9);
  auto reply = ReadLog(state.path(), order);
  EXPECT_EQ(reply.request(), 9);
  EXPECT_EQ(reply.data().size(), 65'536U);
  EXPECT_FALSE(reply.at_end());
  order.set_offset(65'536);
  reply = ReadLog(state.path(), order);
  EXPECT_EQ(reply.data().size(), 100'000U - 65'536U);
  EXPECT_TRUE(reply.at_end());
}

TEST(LogReader, WhatIsNoLogIsRefused) {
  const ScratchFolder state;
  v1::ReadLogOrder order;
  *order.mutable_attempt() = Attempt("s1.2.c0", 3);
  EXPECT_FALSE(ReadLog(state.path(), order).error().empty());
  order.set_stream("../process.json");
  EXPECT_FALSE(ReadLog(state.path(), order).error().empty());
  order.set_stream("stderr");
  order.set_offset(-1);
  EXPECT_FALSE(ReadLog(state.path(), order).error().empty());
  *order.mutable_attempt() = Attempt("../../..", 3);
  EXPECT_FALSE(ReadLog(state.path(), order).error().empty());
}

}  // namespace
}  // namespace leadline::agent
