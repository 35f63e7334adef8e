#include "coordinator/access/clerk.h"

#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/open.h"
#include "tests/support/kept_log.h"

namespace leadline::access {
namespace {

storage::AuditRecord Record(const std::string& who, const std::string& call) {
  storage::AuditRecord record;
  record.who = who;
  record.call = call;
  record.outcome = "OK";
  return record;
}

class ClerkTest : public ::testing::Test {
 protected:
  std::vector<storage::AuditRecord> Written() {
    return *store_->ListAudit({}, 10'000);
  }

  test::KeptLog log_;
  std::shared_ptr<storage::AccessStore> store_ =
      storage::MakeMemoryStore().access;
};

TEST_F(ClerkTest, ARecordIsWrittenWhenItsCallerHearsOfIt) {
  Clerk clerk(*store_, log_, [] {});
  std::promise<size_t> written;
  clerk.Note(Record("t1", "Submit"),
             [&] { written.set_value(Written().size()); });
  EXPECT_EQ(written.get_future().get(), 1U);
}

TEST_F(ClerkTest, EqualRefusalsBecomeFewRowsAndNoneIsLost) {
  constexpr int kTries = 5000;
  {
    Clerk clerk(*store_, log_, [] {});
    for (int i = 0; i < kTries; ++i) {
      clerk.NoteRefusal(Record("nobody", "Submit"));
    }
  }
  const auto rows = Written();
  EXPECT_LE(rows.size(), 3U);
  int64_t count = 0;
  for (const auto& row : rows) count += row.count;
  EXPECT_EQ(count, kTries);
}

TEST_F(ClerkTest, RefusalsStandInTheLogAndNothingElseDoes) {
  {
    Clerk clerk(*store_, log_, [] {});
    clerk.Note(Record("t1", "Submit"), [] {});
    auto refusal = Record("nobody", "Cancel");
    refusal.outcome = "UNAUTHENTICATED";
    refusal.message = "no token was shown";
    clerk.NoteRefusal(std::move(refusal));
  }
  EXPECT_THAT(log_.lines(),
              testing::ElementsAre(
                  "call_refused who=nobody call=Cancel status=UNAUTHENTICATED "
                  "message=no token was shown count=1"));
}

TEST_F(ClerkTest, WhoIsRefusedInManyWaysFillsNoDisk) {
  constexpr int kTries = 3000;
  {
    Clerk clerk(*store_, log_, [] {});
    for (int i = 0; i < kTries; ++i) {
      clerk.NoteRefusal(Record("nobody", "call " + std::to_string(i)));
    }
  }
  const auto rows = Written();
  EXPECT_LE(rows.size(), 600U);
  int64_t count = 0;
  for (const auto& row : rows) count += row.count;
  EXPECT_EQ(count, kTries);
}

class FullDisk final : public storage::AccessStore {
 public:
  absl::StatusOr<storage::TokenRecord> AddToken(storage::TokenRecord) override {
    return Full();
  }
  absl::StatusOr<storage::TokenRecord> RevokeToken(int64_t,
                                                   storage::WallTime) override {
    return Full();
  }
  absl::StatusOr<std::vector<storage::TokenRecord>> ListTokens()
      const override {
    return Full();
  }
  absl::Status AddAudit(std::span<const storage::AuditRecord>) override {
    return Full();
  }
  absl::StatusOr<std::vector<storage::AuditRecord>> ListAudit(
      std::optional<int64_t>, int64_t) const override {
    return Full();
  }

 private:
  static absl::Status Full() { return absl::UnavailableError("disk full"); }
};

TEST_F(ClerkTest, AFullDiskHoldsNoCallUp) {
  FullDisk full;
  Clerk clerk(full, log_, [] {});
  std::promise<void> written;
  clerk.Note(Record("t1", "Submit"), [&] { written.set_value(); });
  written.get_future().get();
}

}  // namespace
}  // namespace leadline::access
