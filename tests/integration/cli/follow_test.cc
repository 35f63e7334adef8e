// Commands that wait: run, submit --wait, watch.

#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "fake_coordinator.h"
#include "program.h"

namespace leadline::cli_test {
namespace {

namespace fs = std::filesystem;
using grpc::Status;
using nlohmann::json;
using ::testing::HasSubstr;

v1::Progress ProgressOf(std::map<std::string, int64_t> trials, bool ended) {
  v1::Progress progress;
  progress.set_sweep("s1");
  progress.set_state(ended ? "complete" : "active");
  int64_t planned = 0;
  for (const auto& [state, count] : trials) {
    (*progress.mutable_trials())[state] = count;
    planned += count;
  }
  progress.set_planned(planned);
  progress.set_ended(ended);
  progress.set_can_run(true);
  return progress;
}

class Follow : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "follow_XXXXXX").string();
    folder_ = mkdtemp(name.data());
    sweep_file_ = (folder_ / "sweep.yaml").string();
    std::ofstream(sweep_file_) << "leadline: 1\n";
    answers_.submit = [](const auto&, v1::SubmitReply* reply) {
      reply->set_sweep("s1");
      reply->set_name("study");
      return Status::OK;
    };
    answers_.results = [](const auto&, auto*, auto* writer) {
      v1::ResultsPart part;
      part.mutable_header()->set_sweep("s1");
      part.mutable_header()->set_database("/state/leadline.db");
      part.mutable_header()->set_metric("validation_loss");
      writer->Write(part);
      return Status::OK;
    };
  }
  void TearDown() override { fs::remove_all(folder_); }

  void WatchEndsWith(const v1::Progress& last) {
    answers_.watch = [last](const auto&, auto*, auto* writer) {
      writer->Write(ProgressOf({{"queued", 4}}, false));
      writer->Write(last);
      return Status::OK;
    };
  }

  // Watch that says something once and then stays silent until cancelled.
  void WatchHangs(const v1::Progress& first, std::promise<void>* began) {
    answers_.watch = [=](const auto&, grpc::ServerContext* context,
                         auto* writer) {
      writer->Write(first);
      if (began != nullptr) began->set_value();
      while (!context->IsCancelled()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
      return Status::CANCELLED;
    };
  }

  Program::Variables Variables(const FakeCoordinator& coordinator) {
    return {{"LEADLINE_COORDINATOR", coordinator.address()},
            {"LC_ALL", "C.UTF-8"}};
  }

  Ended Run(std::vector<std::string> arguments) {
    FakeCoordinator coordinator(answers_);
    Program program(std::move(arguments), Variables(coordinator));
    Ended ended = program.Wait();
    attached_ = coordinator.attached();
    return ended;
  }

  Answers answers_;
  fs::path folder_;
  std::string sweep_file_;
  std::vector<v1::AttachRequest> attached_;
};

TEST_F(Follow, RunPrintsProgressOnStandardErrorAndTheTableOnStandardOutput) {
  WatchEndsWith(ProgressOf({{"succeeded", 4}}, true));
  const Ended ended = Run({"run", sweep_file_, "--slots", "2"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("s1: 4/4 done"));
  EXPECT_THAT(ended.out, HasSubstr("database: /state/leadline.db"));
  ASSERT_EQ(attached_.size(), 1U);
  EXPECT_TRUE(attached_[0].wants_work());
  EXPECT_EQ(attached_[0].slots(), 2);
}

TEST_F(Follow, RunWithJsonPrintsTheResultsAndNothingElse) {
  WatchEndsWith(ProgressOf({{"succeeded", 4}}, true));
  const Ended ended = Run({"run", sweep_file_, "--json"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(json::parse(ended.out)["sweep"], "s1");
  EXPECT_EQ(ended.err, "");
}

TEST_F(Follow, ExitCodesTellHowTheSweepEnded) {
  struct Case {
    std::map<std::string, int64_t> trials;
    int code;
    int strict_code;
  };
  for (const Case& one :
       std::vector<Case>{{{{"succeeded", 4}}, 0, 0},
                         {{{"succeeded", 3}, {"diverged", 1}}, 0, 3},
                         {{{"diverged", 4}}, 0, 3},
                         {{{"succeeded", 3}, {"failed", 1}}, 3, 3},
                         {{{"failed", 4}}, 3, 3},
                         {{{"succeeded", 3}, {"cancelled", 1}}, 1, 1},
                         {{{"failed", 1}, {"cancelled", 1}}, 3, 3}}) {
    WatchEndsWith(ProgressOf(one.trials, true));
    for (const std::string json : {"", "--json"}) {
      std::vector<std::string> run = {"run", sweep_file_};
      std::vector<std::string> wait = {"submit", sweep_file_, "--wait"};
      std::vector<std::string> watch = {"watch", "s1"};
      for (auto* command : {&run, &wait, &watch}) {
        if (!json.empty()) command->push_back(json);
        EXPECT_EQ(Run(*command).exit_code, one.code) << (*command)[0] << json;
        command->push_back("--strict");
        EXPECT_EQ(Run(*command).exit_code, one.strict_code)
            << (*command)[0] << json;
      }
    }
  }
}

TEST_F(Follow, WarnsOfDivergedTrials) {
  WatchEndsWith(ProgressOf({{"succeeded", 3}, {"diverged", 1}}, true));
  EXPECT_THAT(Run({"run", sweep_file_}).err,
              HasSubstr("warning: 1 of 4 trials diverged"));
}

TEST_F(Follow, TellsFailuresAtOnceEachWithItsReason) {
  v1::Progress last = ProgressOf({{"succeeded", 1}, {"failed", 3}}, true);
  for (const std::string kind : {"oom", "crash", "data"}) {
    auto* failure = last.add_failures();
    failure->set_trial("s1.1.0");
    failure->set_attempt("s1.1.0@" + std::to_string(last.failures_size()));
    failure->set_kind(kind);
    failure->set_message("reason of " + kind);
    failure->set_is_final(true);
  }
  WatchEndsWith(last);
  const Ended ended = Run({"run", sweep_file_});
  EXPECT_EQ(ended.exit_code, 3);
  for (const std::string kind : {"oom", "crash", "data"}) {
    EXPECT_THAT(ended.err, HasSubstr(kind + ": reason of " + kind));
  }
  EXPECT_THAT(ended.err, HasSubstr("leadline logs s1.1.0"));
  EXPECT_THAT(ended.err,
              HasSubstr("leadline retry s1 queues what failed again"));
}

TEST_F(Follow, WatchPrintsLinesOnStandardOutput) {
  WatchEndsWith(ProgressOf({{"succeeded", 4}}, true));
  EXPECT_THAT(Run({"watch", "s1"}).out, HasSubstr("s1: 4/4 done"));
}

TEST_F(Follow, GivesUpWhenNothingCanRun) {
  v1::Progress stuck = ProgressOf({{"queued", 4}}, false);
  stuck.set_can_run(false);
  stuck.set_waiting_for("no live agents, 4 queued");
  WatchHangs(stuck, nullptr);
  const Ended ended = Run({"submit", sweep_file_, "--wait", "--give-up", "1"});
  EXPECT_EQ(ended.exit_code, 7);
  EXPECT_THAT(ended.err, HasSubstr("no live agents, 4 queued"));
}

TEST_F(Follow, AnInterruptEndsWith130) {
  std::promise<void> began;
  WatchHangs(ProgressOf({{"running", 4}}, false), &began);
  FakeCoordinator coordinator(answers_);
  Program program({"run", sweep_file_}, Variables(coordinator));
  began.get_future().wait();
  program.Signal(SIGINT);
  const Ended ended = program.Wait();
  EXPECT_EQ(ended.exit_code, 130);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, HasSubstr("what is done is kept"));
}

TEST_F(Follow, APrivateCoordinatorThatDiesEndsWith4AndAdvice) {
  std::promise<void> began;
  WatchHangs(ProgressOf({{"running", 4}}, false), &began);
  answers_.attach_reply.set_is_private(true);
  FakeCoordinator coordinator(answers_);
  Program program({"run", sweep_file_}, Variables(coordinator));
  began.get_future().wait();
  coordinator.Die();
  const Ended ended = program.Wait();
  EXPECT_EQ(ended.exit_code, 4);
  EXPECT_THAT(ended.err, HasSubstr("the same command goes on with it"));
}

TEST_F(Follow, ASharedCoordinatorIsWaitedForAndFollowedAgain) {
  std::promise<void> began;
  WatchHangs(ProgressOf({{"running", 4}}, false), &began);
  auto coordinator = std::make_unique<FakeCoordinator>(answers_);
  const std::string address = coordinator->address();
  Program program({"watch", "s1"}, Variables(*coordinator));
  began.get_future().wait();
  coordinator->Die();
  coordinator.reset();
  WatchEndsWith(ProgressOf({{"succeeded", 4}}, true));
  const FakeCoordinator again(answers_, address);
  const Ended ended = program.Wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("s1: 4/4 done"));
  EXPECT_THAT(ended.err, HasSubstr("went away"));
  EXPECT_THAT(ended.err, HasSubstr("it is back"));
}

TEST_F(Follow, ASharedCoordinatorThatStaysAwayEndsWith4AfterThePatience) {
  std::promise<void> began;
  WatchHangs(ProgressOf({{"running", 4}}, false), &began);
  FakeCoordinator coordinator(answers_);
  Program program({"watch", "s1", "--patience", "1"}, Variables(coordinator));
  began.get_future().wait();
  coordinator.Die();
  const Ended ended = program.Wait();
  EXPECT_EQ(ended.exit_code, 4);
  EXPECT_THAT(ended.err, HasSubstr("while s1 ran (Connection refused); what it "
                                   "stored is kept, and the same command goes "
                                   "on with it"));
}

TEST_F(Follow, AnInterruptEndsTheWaitForACoordinator) {
  std::promise<void> began;
  WatchHangs(ProgressOf({{"running", 4}}, false), &began);
  FakeCoordinator coordinator(answers_);
  Program program({"watch", "s1"}, Variables(coordinator));
  began.get_future().wait();
  coordinator.Die();
  program.Signal(SIGINT);
  EXPECT_EQ(program.Wait().exit_code, 130);
}

TEST_F(Follow, AnotherSweepOfThatIdIsNotTakenForIt) {
  auto calls = std::make_shared<std::atomic<int>>(0);
  answers_.watch = [calls](const auto&, auto*, auto* writer) {
    const bool is_first = ++*calls == 1;
    v1::Progress progress = ProgressOf({{"succeeded", 4}}, !is_first);
    progress.set_name(is_first ? "wanted" : "foreign");
    writer->Write(progress);
    return is_first ? Status::CANCELLED : Status::OK;
  };
  const Ended ended = Run({"run", sweep_file_});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, HasSubstr("came back with another database: there s1 "
                                   "is \"foreign\""));
}

TEST_F(Follow, AWatchThatAlwaysEndsIsNotTakenUpForEver) {
  answers_.watch = [](const auto&, auto*, auto*) { return Status::CANCELLED; };
  const Ended ended = Run({"watch", "s1", "--patience", "1"});
  EXPECT_EQ(ended.exit_code, 4);
  EXPECT_THAT(ended.err, HasSubstr("it broke off the call"));
}

TEST_F(Follow, OneWhoseTokenEndsMeanwhileIsToldSo) {
  auto calls = std::make_shared<std::atomic<int>>(0);
  answers_.watch = [calls](const auto&, auto*, auto* writer) {
    if (++*calls > 1) {
      return Status(grpc::StatusCode::UNAUTHENTICATED,
                    "the token t1 was revoked");
    }
    writer->Write(ProgressOf({{"running", 4}}, false));
    return Status::CANCELLED;  // as the server's side of a call is broken off
  };
  const Ended ended = Run({"watch", "s1", "--json"});
  EXPECT_EQ(ended.exit_code, 5);
  const json error = json::parse(ended.err)["error"];
  EXPECT_EQ(error["code"], "unauthenticated");
  EXPECT_THAT(error["message"], HasSubstr("the token t1 was revoked"));
}

TEST_F(Follow, ABrokenWatchIsTakenUpAgain) {
  auto calls = std::make_shared<std::atomic<int>>(0);
  answers_.watch = [calls](const auto&, auto*, auto* writer) {
    const bool is_first = ++*calls == 1;
    writer->Write(ProgressOf({{"succeeded", 4}}, !is_first));
    return is_first ? Status::CANCELLED : Status::OK;
  };
  const Ended ended = Run({"watch", "s1"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(*calls, 2);
}

}  // namespace
}  // namespace leadline::cli_test
