#include <gmock/gmock.h>

#include "common/sha256.h"
#include "tests/contract/store_contract.h"

namespace leadline {
namespace {

using std::chrono::seconds;
using storage::AuditRecord;
using storage::TokenRecord;
using storage::WallTime;

WallTime At(int64_t s) { return WallTime(seconds(s)); }

TokenRecord NewToken(const std::string& secret) {
  TokenRecord token;
  token.name = "ci";
  token.role = AccessRole::kSubmit;
  token.hash = Sha256Of(secret);
  token.created_at = At(5);
  token.expires_at = At(50);
  return token;
}

AuditRecord NewEntry(int64_t number) {
  AuditRecord record;
  record.at = At(number);
  record.who = "t1 ci";
  record.call = "Submit";
  record.target = "s" + std::to_string(number);
  record.outcome = "OK";
  record.count = number;
  return record;
}

TEST_P(StoreContract, ATokenReadsBackAsItWasMade) {
  const auto made = pair_.access->AddToken(NewToken("a"));
  ASSERT_TRUE(made.ok()) << made.status();
  TokenRecord expected = NewToken("a");
  expected.id = 1;
  EXPECT_EQ(*made, expected);
  Reopen();
  EXPECT_THAT(*pair_.access->ListTokens(), testing::ElementsAre(expected));
}

TEST_P(StoreContract, TheSameSecretIsTheSameToken) {
  const auto first = pair_.access->AddToken(NewToken("a"));
  TokenRecord again = NewToken("a");
  again.role = AccessRole::kAdmin;
  again.created_at = At(9);
  EXPECT_EQ(*pair_.access->AddToken(again), *first);
  EXPECT_EQ(pair_.access->AddToken(NewToken("b"))->id, 2);
  EXPECT_EQ(pair_.access->ListTokens()->size(), 2U);
}

TEST_P(StoreContract, TheFirstRevocationStands) {
  ASSERT_TRUE(pair_.access->AddToken(NewToken("a")).ok());
  EXPECT_EQ(pair_.access->RevokeToken(1, At(7))->revoked_at, At(7));
  EXPECT_EQ(pair_.access->RevokeToken(1, At(8))->revoked_at, At(7));
  EXPECT_TRUE(absl::IsNotFound(pair_.access->RevokeToken(2, At(8)).status()));
  EXPECT_TRUE(absl::IsNotFound(pair_.access->RevokeToken(0, At(8)).status()));
  Reopen();
  EXPECT_EQ(pair_.access->ListTokens()->front().revoked_at, At(7));
  // An id is never given again.
  EXPECT_EQ(pair_.access->AddToken(NewToken("b"))->id, 2);
}

TEST_P(StoreContract, TheAuditIsReadBackwardsPageByPage) {
  const std::vector<AuditRecord> entries = {NewEntry(1), NewEntry(2),
                                            NewEntry(3)};
  ASSERT_TRUE(pair_.access->AddAudit(entries).ok());
  ASSERT_TRUE(pair_.access->AddAudit({}).ok());
  Reopen();
  const auto newest = pair_.access->ListAudit({}, 2);
  ASSERT_TRUE(newest.ok());
  ASSERT_EQ(newest->size(), 2U);
  EXPECT_EQ((*newest)[0].target, "s3");
  AuditRecord expected = NewEntry(2);
  expected.id = 2;
  EXPECT_EQ((*newest)[1], expected);
  const auto rest = pair_.access->ListAudit((*newest)[1].id, 2);
  ASSERT_EQ(rest->size(), 1U);
  EXPECT_EQ((*rest)[0].target, "s1");
  EXPECT_TRUE(pair_.access->ListAudit(1, 2)->empty());
}

TEST_P(StoreContract, TheAuditForgetsItsOldestEntriesAlone) {
  const std::vector<AuditRecord> half(storage::kMostAuditRecords / 2 + 1,
                                      NewEntry(1));
  ASSERT_TRUE(pair_.access->AddAudit(half).ok());
  ASSERT_TRUE(pair_.access->AddAudit(half).ok());
  EXPECT_EQ(pair_.access->ListAudit({}, 1)->front().id,
            storage::kMostAuditRecords + 2);
  EXPECT_TRUE(pair_.access->ListAudit(3, 1)->empty());
  EXPECT_EQ(pair_.access->ListAudit(4, 5)->size(), 1U);
}

TEST_P(StoreContract, AnyTextMayStandInTheAudit) {
  AuditRecord record = NewEntry(1);
  record.who = "t1 '; drop table audit_entry; --";
  record.message = std::string("\0\n\x01", 3) + "ü";
  const std::vector<AuditRecord> one = {record};
  ASSERT_TRUE(pair_.access->AddAudit(one).ok());
  record.id = 1;
  EXPECT_EQ(pair_.access->ListAudit({}, 5)->front(), record);
}

}  // namespace
}  // namespace leadline
