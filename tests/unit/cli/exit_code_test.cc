#include "cli/exit_code.h"

#include <gtest/gtest.h>

#include "cli/problems.h"
#include "cli/wire_status.h"
#include "errors/error_code.h"
#include "leadline/v1/experiment.pb.h"

namespace leadline::cli {
namespace {

ExitCode CodeOf(grpc::StatusCode code) {
  return ExitCodeOf(FromGrpc(grpc::Status(code, "why"), "host:1"));
}

TEST(ExitCode, IsFixedForEveryGrpcCode) {
  EXPECT_EQ(ExitCodeOf(FromGrpc(grpc::Status::OK, "host:1")), ExitCode::kDone);
  EXPECT_EQ(CodeOf(grpc::StatusCode::INVALID_ARGUMENT), ExitCode::kMisuse);
  EXPECT_EQ(CodeOf(grpc::StatusCode::OUT_OF_RANGE), ExitCode::kMisuse);
  EXPECT_EQ(CodeOf(grpc::StatusCode::UNAVAILABLE), ExitCode::kUnreachable);
  EXPECT_EQ(CodeOf(grpc::StatusCode::DEADLINE_EXCEEDED),
            ExitCode::kUnreachable);
  EXPECT_EQ(CodeOf(grpc::StatusCode::UNAUTHENTICATED), ExitCode::kRefused);
  EXPECT_EQ(CodeOf(grpc::StatusCode::PERMISSION_DENIED), ExitCode::kRefused);
  EXPECT_EQ(CodeOf(grpc::StatusCode::NOT_FOUND), ExitCode::kNotFound);
  for (const auto code :
       {grpc::StatusCode::CANCELLED, grpc::StatusCode::UNKNOWN,
        grpc::StatusCode::ALREADY_EXISTS, grpc::StatusCode::RESOURCE_EXHAUSTED,
        grpc::StatusCode::FAILED_PRECONDITION, grpc::StatusCode::ABORTED,
        grpc::StatusCode::UNIMPLEMENTED, grpc::StatusCode::INTERNAL,
        grpc::StatusCode::DATA_LOSS}) {
    EXPECT_EQ(CodeOf(code), ExitCode::kFailed);
  }
}

TEST(ExitCode, CanBeFixedApartFromTheStatus) {
  const absl::Status status =
      WithError(absl::AbortedError("2 failed"), ErrorCode::kTrialsFailed);
  EXPECT_EQ(ExitCodeOf(status), ExitCode::kTrialsFailed);
  EXPECT_EQ(ExitCodeOf(At(status, "s1")), ExitCode::kTrialsFailed);
}

TEST(At, KeepsTheFirstPlace) {
  const absl::Status status =
      At(At(absl::InternalError("x"), "inner"), "outer");
  EXPECT_EQ(WhereOf(status), "inner");
  EXPECT_EQ(WhereOf(absl::InternalError("x")), "");
  EXPECT_TRUE(At(absl::OkStatus(), "here").ok());
}

TEST(FromGrpc, CarriesEveryProblemOfASweepFile) {
  v1::Problems wire;
  for (int line : {3, 7}) {
    auto* problem = wire.add_problems();
    problem->set_line(line);
    problem->set_column(5);
    problem->set_message("found \"x\", expected a number");
  }
  wire.add_problems()->set_message("no cells are left");
  const absl::Status status =
      FromGrpc(grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "refused",
                            wire.SerializeAsString()),
               "host:1", "a.yaml");
  const auto problems = ProblemsOf(status);
  ASSERT_EQ(problems.size(), 3U);
  EXPECT_EQ(ProblemLine(problems[1]),
            "a.yaml:7:5: found \"x\", expected a number");
  EXPECT_EQ(ProblemLine(problems[2]), "a.yaml: no cells are left");
  EXPECT_EQ(WhereOf(status), "a.yaml:3:5");
  EXPECT_EQ(ExitCodeOf(status), ExitCode::kMisuse);
}

TEST(FromGrpc, SurvivesDetailsThatAreNone) {
  const absl::Status status = FromGrpc(
      grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "no", "\xff\xff\x01"),
      "host:1", "a.yaml");
  EXPECT_TRUE(ProblemsOf(status).empty());
  EXPECT_EQ(status.message(), "no");
}

}  // namespace
}  // namespace leadline::cli
