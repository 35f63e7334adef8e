#include "worker/agent/end_report.h"

#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/agent/stop_schedule.h"

namespace leadline::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

v1::EndRecord End(const std::string& outcome, const std::string& kind) {
  v1::EndRecord end;
  end.set_outcome(outcome);
  end.set_kind(kind);
  end.set_message("said the trainer");
  return end;
}

TEST(EndReport, SuccessIsNoFailureHoweverTheProcessWasEnded) {
  EXPECT_EQ(ReportEnd({.status = {0, 0}, .end = End("succeeded", "")}).kind,
            "");
  EXPECT_EQ(ReportEnd({.status = {-1, SIGKILL},
                       .end = End("succeeded", ""),
                       .stopped_by_agent = true})
                .kind,
            "");
}

TEST(EndReport, TakesTheTrainersOwnKind) {
  const EndReport report =
      ReportEnd({.status = {1, 0}, .end = End("failed", "disk")});
  EXPECT_EQ(report.kind, "disk");
  EXPECT_EQ(report.message, "said the trainer");
}

TEST(EndReport, AKindNobodyKnowsIsACrash) {
  const EndReport report =
      ReportEnd({.status = {1, 0}, .end = End("failed", "\x01mood")});
  EXPECT_EQ(report.kind, "crash");
  EXPECT_THAT(report.message, HasSubstr("?mood"));
}

TEST(EndReport, ASignalIsACrashWithItsNumber) {
  const EndReport report =
      ReportEnd({.status = {-1, SIGSEGV}, .traces = {.last_words = "boom"}});
  EXPECT_EQ(report.kind, "crash");
  EXPECT_THAT(report.message, HasSubstr("signal 11"));
  EXPECT_THAT(report.message, HasSubstr("boom"));
}

TEST(EndReport, AKillWithTheMachineOutOfMemoryIsOom) {
  for (const OomEvidence oom : {OomEvidence::kCounted, OomEvidence::kNamed}) {
    EXPECT_EQ(ReportEnd({.status = {-1, SIGKILL}, .traces = {.oom = oom}}).kind,
              "oom");
    // Of one that is no child only the kernel knows.
    EXPECT_EQ(ReportEnd({.status = {}, .traces = {.oom = oom}}).kind, "oom");
    EXPECT_EQ(ReportEnd({.status = {-1, SIGSEGV}, .traces = {.oom = oom}}).kind,
              "crash");
  }
  EXPECT_EQ(ReportEnd({.status = {-1, SIGKILL}}).kind, "crash");
}

TEST(EndReport, AFullDiskIsNoCrashWhereTheTrainerCouldNotSaySo) {
  EXPECT_EQ(ReportEnd({.status = {1, 0}, .traces = {.free_bytes = 0}}).kind,
            "disk");
  EXPECT_EQ(ReportEnd({.status = {-1, SIGABRT},
                       .traces = {.is_torn = true, .free_bytes = 4096}})
                .kind,
            "disk");
  EXPECT_EQ(
      ReportEnd({.status = {1, 0}, .traces = {.free_bytes = 1 << 30}}).kind,
      "crash");
  EXPECT_EQ(
      ReportEnd({.status = {-1, SIGSEGV}, .traces = {.free_bytes = 0}}).kind,
      "crash");
}

TEST(EndReport, ACrashThatNamesItsCauseIsOfThatKind) {
  v1::EndRecord end = End("failed", "crash");
  end.set_message("CUDA error: an illegal memory access was encountered");
  EXPECT_EQ(ReportEnd({.status = {1, 0}, .end = end}).kind, "device");
  end.set_message("CUDA error: device-side assert triggered");
  EXPECT_EQ(ReportEnd({.status = {1, 0}, .end = end}).kind, "crash")
      << "the code asserts, whatever the device";
  end.set_kind("data");
  EXPECT_EQ(ReportEnd({.status = {1, 0}, .end = end}).kind, "data");
}

TEST(EndReport, OneThatWasEndedBecauseItHungSaysSo) {
  const EndReport report = ReportEnd({.status = {-1, SIGTERM},
                                      .end = End("cancelled", ""),
                                      .hang = "no record for 601 s"});
  EXPECT_EQ(report.kind, "hang");
  EXPECT_EQ(report.message, "no record for 601 s");
}

TEST(EndReport, AMachineThatWentDownIsALostAgentUnlessTheTrainerHadSpoken) {
  EXPECT_EQ(ReportEnd({.status = {}, .machine_restarted = true}).kind,
            "agent_lost");
  EXPECT_EQ(ReportEnd({.status = {},
                       .end = End("failed", "data"),
                       .machine_restarted = true})
                .kind,
            "data");
}

TEST(EndReport, MisuseIsAMatterOfTheConfiguration) {
  EXPECT_EQ(ReportEnd({.status = {2, 0}}).kind, "config");
}

TEST(EndReport, RubbishAloneIsACrash) {
  const EndReport report = ReportEnd({.status = {0, 0}, .unreadable = 50});
  EXPECT_EQ(report.kind, "crash");
  EXPECT_THAT(report.message, HasSubstr("50 lines"));
}

TEST(EndReport, OurOwnOrderIsNoFailure) {
  const EndReport report =
      ReportEnd({.status = {-1, SIGKILL}, .stop_reason = "cancelled"});
  EXPECT_EQ(report.kind, "");
  EXPECT_THAT(report.message, HasSubstr("cancelled"));
}

TEST(EndReport, AnEndFromOutsideMayBeTriedAgain) {
  EXPECT_EQ(ReportEnd({.status = {0, 0}, .end = End("cancelled", "")}).kind,
            "crash");
}

TEST(EndReport, ALeaseThatWasNotRenewedIsALostAgent) {
  EXPECT_EQ(ReportEnd({.status = {-1, SIGTERM}, .lease_lost = true}).kind,
            "agent_lost");
}

TEST(LastWords, ArePrintableAndShort) {
  EXPECT_EQ(LastWords("one\ntwo\x80\n\n"), "one | two?");
  EXPECT_EQ(LastWords(std::string(5000, 'x'), 10), std::string(10, 'x'));
  EXPECT_EQ(LastWords("the first line\nthe second\nthe third", 25),
            "the second | the third");
  EXPECT_EQ(LastWords("one\nthe second\nthe third", 20),
            "the second | the third");
  EXPECT_EQ(LastWords("what(): a long reason\nAborted", 20),
            " long reason | Aborted");
  EXPECT_EQ(LastWords(""), "");
}

TEST(StopSchedule, AsksThenTellsThenKills) {
  const StopPatience patience;
  EXPECT_EQ(StepDue(milliseconds(0), patience), StopStep::kOrder);
  EXPECT_EQ(StepDue(milliseconds(4999), patience), StopStep::kOrder);
  EXPECT_EQ(StepDue(milliseconds(5000), patience), StopStep::kTerminate);
  EXPECT_EQ(StepDue(milliseconds(9999), patience), StopStep::kTerminate);
  EXPECT_EQ(StepDue(milliseconds(10000), patience), StopStep::kKill);
}

TEST(StopSchedule, WithoutPatienceForOrdersStartsWithTheSignal) {
  EXPECT_EQ(StepDue(milliseconds(0), {milliseconds(0), milliseconds(5)}),
            StopStep::kTerminate);
}

}  // namespace
}  // namespace leadline::agent
