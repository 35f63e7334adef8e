#include "coordinator/access/door.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/sha256.h"
#include "storage/open.h"

namespace leadline::access {
namespace {

using testing::HasSubstr;

constexpr char kSubmit[] = "/leadline.v1.SweepService/Submit";
constexpr char kWatch[] = "/leadline.v1.SweepService/Watch";
constexpr char kSession[] = "/leadline.v1.WorkerService/Session";

class DoorTest : public ::testing::Test {
 protected:
  void Open(Limits limits = {}) {
    door_.reset();
    auto door = Door::Open(*store_, log_, limits);
    ASSERT_TRUE(door.ok()) << door.status();
    door_ = *std::move(door);
  }

  /// The header that shows a new token.
  std::string Header(AccessRole role, const std::string& name = "") {
    storage::TokenRecord token;
    token.role = role;
    token.name = name;
    const std::string secret(64, static_cast<char>('0' + ++made_));
    token.hash = Sha256Of(secret);
    const auto made = door_->Create(token);
    EXPECT_TRUE(made.ok()) << made.status();
    return "Bearer " + TokenSecretText(made->id, secret);
  }

  absl::Status Try(Entrance entrance, const std::string& call,
                   const std::string& header = "", bool is_stream = false) {
    return door_->Admit({entrance, call, header, is_stream}).status();
  }

  NoLog log_;
  std::shared_ptr<storage::AccessStore> store_ =
      storage::MakeMemoryStore().access;
  std::unique_ptr<Door> door_;
  int made_ = 0;
};

TEST_F(DoorTest, TheSocketNeedsNoTokenAndAllowsAll) {
  Open();
  Header(AccessRole::kRead);
  for (const CallRule& rule : CallRules()) {
    EXPECT_TRUE(Try(Entrance::kSocket, std::string(rule.call)).ok())
        << rule.call;
  }
}

TEST_F(DoorTest, LoopbackIsOpenUntilTheFirstTokenAndNeverAfter) {
  Open();
  EXPECT_TRUE(Try(Entrance::kLoopback, kSubmit).ok());
  EXPECT_TRUE(absl::IsUnauthenticated(Try(Entrance::kPublic, kSubmit)));
  const std::string header = Header(AccessRole::kSubmit);
  EXPECT_TRUE(absl::IsUnauthenticated(Try(Entrance::kLoopback, kSubmit)));
  EXPECT_TRUE(Try(Entrance::kLoopback, kSubmit, header).ok());
  ASSERT_TRUE(door_->Revoke(1).ok());
  Open();
  EXPECT_TRUE(absl::IsUnauthenticated(Try(Entrance::kLoopback, kSubmit)));
  EXPECT_FALSE(door_->HasValidToken());
}

TEST_F(DoorTest, ARoleThatIsTooSmallIsToldWhichIsNeeded) {
  Open();
  const absl::Status refused =
      Try(Entrance::kPublic, kSubmit, Header(AccessRole::kRead, "ci"));
  EXPECT_TRUE(absl::IsPermissionDenied(refused));
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("t1 ci has the role read, and Submit needs the role "
                        "submit"));
}

TEST_F(DoorTest, ACallThatIsNotInTheTableIsRefusedWhoeverAsks) {
  Open();
  const std::string header = Header(AccessRole::kAdmin);
  for (const Entrance entrance :
       {Entrance::kSocket, Entrance::kLoopback, Entrance::kPublic}) {
    EXPECT_TRUE(absl::IsUnimplemented(
        Try(entrance, "/leadline.v1.SweepService/Destroy", header)));
  }
  EXPECT_TRUE(absl::IsUnauthenticated(Try(Entrance::kPublic, "/x.Y/Z")));
}

TEST_F(DoorTest, HeadersOfAnotherFormShowNoToken) {
  Open();
  const std::string header = Header(AccessRole::kAdmin);
  for (const std::string& other :
       {std::string("Basic abc"), header.substr(7), "bearer" + header.substr(6),
        "Bearer  " + header.substr(7), header + " ", header + "," + header}) {
    EXPECT_TRUE(absl::IsUnauthenticated(Try(Entrance::kPublic, kSubmit, other)))
        << other;
  }
}

TEST_F(DoorTest, ACallerBeyondItsRateIsRefusedAndOthersAreNot) {
  Open({.calls_a_second = 0.001, .calls_at_once = 3});
  const std::string header = Header(AccessRole::kSubmit);
  const std::string agent = Header(AccessRole::kAgent);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(Try(Entrance::kPublic, kSubmit, header).ok());
  }
  const absl::Status beyond = Try(Entrance::kPublic, kSubmit, header);
  EXPECT_TRUE(absl::IsResourceExhausted(beyond));
  EXPECT_THAT(std::string(beyond.message()), HasSubstr("too many calls: t1"));
  EXPECT_TRUE(Try(Entrance::kPublic, kSession, agent, true).ok());
}

TEST_F(DoorTest, StreamsOfReadersAreBoundedAndAgentsStillComeIn) {
  Open({.streams_of_caller = 2, .streams_of_readers = 3});
  const std::string one = Header(AccessRole::kRead);
  const std::string two = Header(AccessRole::kRead);
  const std::string agent = Header(AccessRole::kAgent);
  OpenStreams& open = door_->open_streams();
  open.Add({"t1", 1, false, [] {}});
  EXPECT_TRUE(Try(Entrance::kPublic, kWatch, one, true).ok());
  open.Add({"t1", 1, false, [] {}});
  EXPECT_TRUE(
      absl::IsResourceExhausted(Try(Entrance::kPublic, kWatch, one, true)));
  EXPECT_TRUE(Try(Entrance::kPublic, kWatch, two, true).ok());
  open.Add({"t2", 2, false, [] {}});
  EXPECT_TRUE(
      absl::IsResourceExhausted(Try(Entrance::kPublic, kWatch, two, true)));
  EXPECT_TRUE(Try(Entrance::kPublic, kSession, agent, true).ok());
}

TEST_F(DoorTest, RevokingEndsWhatIsOpenUnderTheToken) {
  Open();
  const std::string header = Header(AccessRole::kRead);
  bool ended = false;
  door_->open_streams().Add({"t1", 1, false, [&] { ended = true; }});
  const auto first = door_->Revoke(1);
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(ended);
  EXPECT_TRUE(absl::IsUnauthenticated(Try(Entrance::kPublic, kWatch, header)));
  EXPECT_EQ(door_->Revoke(1)->revoked_at, first->revoked_at);
  EXPECT_TRUE(absl::IsNotFound(door_->Revoke(2).status()));
}

TEST_F(DoorTest, RefusalsAreInTheAuditAndHoldNothingAStrangerChose) {
  Open();
  Header(AccessRole::kRead);
  EXPECT_FALSE(Try(Entrance::kPublic, kSubmit).ok());
  EXPECT_FALSE(Try(Entrance::kSocket, "/x.Y/'; drop table token; --").ok());
  door_.reset();
  std::string all;
  const auto rows = store_->ListAudit({}, 100).value();
  for (const auto& row : rows) {
    all += row.who + "|" + row.call + "|" + row.outcome + "\n";
  }
  EXPECT_THAT(all, HasSubstr("nobody|Submit|UNAUTHENTICATED\n"));
  EXPECT_THAT(all, HasSubstr("|?|UNIMPLEMENTED\n"));
  EXPECT_THAT(all, testing::Not(HasSubstr("drop table")));
}

}  // namespace
}  // namespace leadline::access
