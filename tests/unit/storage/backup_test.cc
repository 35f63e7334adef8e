// Copies of a database that is written meanwhile, what puts one back, and what
// a look through finds.

#include "storage/backup.h"

#include <atomic>
#include <fstream>
#include <set>
#include <thread>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "errors/error_code.h"
#include "storage/open.h"
#include "tests/support/store_world.h"

namespace leadline::storage {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Backup : public ::testing::Test {
 protected:
  void SetUp() override {
    pair_ = OpenSqliteStore(path_).value();
    ASSERT_TRUE(test::CommitOne(*pair_.store, test::MakeSweep(1, 20, 5)).ok());
    ASSERT_TRUE(
        test::Run(*pair_.store, test::Attempt(1, 1, 1), {test::Trial(1, 1, 0)})
            .ok());
    ASSERT_TRUE(test::Succeed(*pair_.store, test::Trial(1, 1, 0),
                              test::Attempt(1, 1, 1), 1.5)
                    .ok());
    ASSERT_TRUE(
        test::CommitOne(
            *pair_.store,
            EndAttempt{
                test::Attempt(1, 1, 1), AttemptOutcome::kSucceeded, {}, "", {}})
            .ok());
  }

  static std::string ContentsOf(const fs::path& path) {
    return test::Dump(OpenSqliteStore(path).value(), {"train_loss"});
  }

  std::vector<std::string> RulesBroken(const std::string& sql) {
    pair_ = {};
    SQLite::Database(path_.string(), SQLite::OPEN_READWRITE).exec(sql);
    std::vector<std::string> rules;
    const auto report = CheckDatabase(path_);
    for (const Finding& finding : report->findings) {
      rules.push_back(finding.rule);
    }
    return rules;
  }

  test::TemporaryFolder folder_;
  const fs::path path_ = folder_.path() / "leadline.db";
  const fs::path copy_ = folder_.path() / "copy.db";
  StorePair pair_;
};

TEST_F(Backup, UnderALoadOfWritesIsOfOneMomentAndWhole) {
  std::atomic<bool> stop = false;
  std::atomic<int64_t> committed = 1;
  std::jthread writer([&] {
    for (int64_t sweep = 2; !stop; ++sweep) {
      EXPECT_TRUE(
          test::CommitOne(*pair_.store, test::MakeSweep(sweep, 5, 3)).ok());
      committed = sweep;
    }
  });
  for (int i = 0; i < 5; ++i) {
    const int64_t before = committed;
    const auto facts = pair_.reader->BackUp(copy_);
    const int64_t after = committed + 1;
    ASSERT_TRUE(facts.ok()) << facts.status();
    const auto copied = OpenSqliteStore(copy_).value();
    const int64_t sweeps = copied.reader->CountSweeps().value();
    EXPECT_GE(sweeps, before);
    EXPECT_LE(sweeps, after);
    EXPECT_EQ(facts->rows.at("sweep"), sweeps);
    // Whole sweeps alone.
    EXPECT_EQ(facts->rows.at("trial"), 100 + 15 * (sweeps - 1));
    EXPECT_TRUE(CheckDatabase(copy_)->findings.empty());
  }
  stop = true;
}

TEST_F(Backup, IsRestoredWithAllItHeldAndTheOldOneIsKept) {
  const std::string then = test::Dump(pair_, {"train_loss"});
  ASSERT_TRUE(pair_.reader->BackUp(copy_).ok());
  ASSERT_TRUE(test::CommitOne(*pair_.store, test::MakeSweep(2, 2, 2)).ok());
  const std::string later = test::Dump(pair_, {"train_loss"});
  pair_ = {};
  const auto aside = PutInPlace(copy_, path_, ".before");
  ASSERT_TRUE(aside.ok()) << aside.status();
  EXPECT_EQ(ContentsOf(path_), then);
  EXPECT_EQ(ContentsOf(*aside), later);
}

TEST_F(Backup, IsRestoredTwiceInASecondAndBothOldOnesAreKept) {
  pair_ = {};
  std::set<fs::path> kept;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(CopyDatabase(path_, copy_).ok());
    const auto aside = PutInPlace(copy_, path_, ".before");
    ASSERT_TRUE(aside.ok()) << aside.status();
    EXPECT_TRUE(fs::exists(*aside));
    kept.insert(*aside);
  }
  EXPECT_EQ(kept.size(), 3U);
}

TEST_F(Backup, OfADatabaseWithALogKeepsTheLogWithItsDatabase) {
  ASSERT_TRUE(pair_.reader->BackUp(copy_).ok());
  ASSERT_TRUE(test::CommitOne(*pair_.store, test::MakeSweep(2, 2, 2)).ok());
  // As if the coordinator had been killed: the log is there.
  const fs::path killed = folder_.path() / "killed";
  fs::create_directory(killed);
  for (const char* part : {"", "-wal"}) {
    fs::copy_file(path_.string() + part,
                  killed / ("leadline.db" + std::string(part)));
  }
  ASSERT_GT(fs::file_size(killed / "leadline.db-wal"), 0U);
  const auto aside = PutInPlace(copy_, killed / "leadline.db", ".before");
  ASSERT_TRUE(aside.ok()) << aside.status();
  EXPECT_FALSE(fs::exists(killed / "leadline.db-wal"));
  EXPECT_EQ(OpenSqliteStore(*aside)->reader->CountSweeps().value(), 2);
  EXPECT_EQ(
      OpenSqliteStore(killed / "leadline.db")->reader->CountSweeps().value(),
      1);
}

TEST_F(Backup, OfWhatIsNotOursIsRefused) {
  const fs::path text = folder_.path() / "diary.txt";
  std::ofstream(text) << "dear diary " << std::string(500, 'x');
  EXPECT_EQ(CopyDatabase(text, copy_).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(CheckDatabase(text).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(CopyDatabase(folder_.path() / "none.db", copy_).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(fs::exists(copy_));
}

TEST_F(Backup, ThatCannotBeWrittenLeavesNothing) {
  const fs::path nowhere = folder_.path() / "none" / "copy.db";
  EXPECT_EQ(pair_.reader->BackUp(nowhere).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(Backup, ALookThroughFindsNothingInASoundOne) {
  pair_ = {};
  const auto report = CheckDatabase(path_);
  ASSERT_TRUE(report.ok()) << report.status();
  for (const Finding& finding : report->findings) {
    ADD_FAILURE() << finding.rule << ": " << finding.what;
  }
  EXPECT_EQ(report->facts.rows.at("trial"), 100);
}

TEST_F(Backup, ALookThroughFindsATrialWithoutItsResult) {
  EXPECT_THAT(RulesBroken("DELETE FROM result"),
              ::testing::Contains("a trial that succeeded has its result"));
}

TEST_F(Backup, ALookThroughFindsAStateThatIsNone) {
  EXPECT_THAT(RulesBroken("UPDATE trial SET state = 'dreaming' WHERE id = 2"),
              ::testing::Contains("the state of a trial is one of the known"));
}

TEST_F(Backup, ALookThroughFindsWhatRefersToNothing) {
  EXPECT_THAT(
      RulesBroken("PRAGMA foreign_keys = OFF; DELETE FROM cell WHERE id = 1"),
      ::testing::Contains("what is referred to is there"));
}

TEST_F(Backup, ALookThroughFindsTwoLiveAttempts) {
  EXPECT_THAT(
      RulesBroken("UPDATE attempt SET outcome = 'live'; UPDATE cohort SET "
                  "attempts = 2"),
      ::testing::IsSupersetOf({"a cohort has as many attempts as it counts",
                               "only the last attempt of a cohort is live"}));
}

TEST_F(Backup, ALookThroughFindsDamage) {
  pair_ = {};
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(3L * 4096);
    file << std::string(8UL * 4096, 'Z');
  }
  const auto report = CheckDatabase(path_);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_FALSE(report->findings.empty());
  EXPECT_EQ(report->findings.front().rule, "the file is whole");
  const auto opened = OpenSqliteStore(path_);
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(opened.status().message()),
              HasSubstr("leadline restore"));
}

TokenRecord TokenOf(char digit) {
  TokenRecord token;
  token.name = "of " + std::string(1, digit);
  token.role = AccessRole::kSubmit;
  token.hash = std::string(64, digit);
  token.created_at = WallTime(std::chrono::seconds(5));
  return token;
}

TEST_F(Backup, WhoMayComeInIsCarriedOverIntoIt) {
  ASSERT_TRUE(pair_.access->AddToken(TokenOf('a')).ok());
  ASSERT_TRUE(CopyDatabase(path_, copy_).ok());
  // What happened since: one leaves, another comes, and it is written down.
  ASSERT_TRUE(
      pair_.access->RevokeToken(1, WallTime(std::chrono::hours(1))).ok());
  ASSERT_TRUE(pair_.access->AddToken(TokenOf('b')).ok());
  const AuditRecord record{0, {}, "t1", "RevokeToken", "t1", "OK", "", 1};
  ASSERT_TRUE(pair_.access->AddAudit({&record, 1}).ok());
  const auto tokens = pair_.access->ListTokens().value();
  const auto audit = pair_.access->ListAudit({}, 10).value();
  pair_ = {};

  const auto counts = CarryAccess(path_, copy_);
  ASSERT_TRUE(counts.ok()) << counts.status();
  EXPECT_EQ(counts->tokens, 2);
  EXPECT_EQ(counts->audit_entries, 1);
  EXPECT_FALSE(fs::exists(copy_.string() + "-wal"));
  const StorePair copy = OpenSqliteStore(copy_).value();
  EXPECT_EQ(copy.access->ListTokens().value(), tokens);
  EXPECT_EQ(copy.access->ListAudit({}, 10).value(), audit);
}

TEST_F(Backup, KeepsItsTokensWhereThereIsNothingToCarryOver) {
  ASSERT_TRUE(pair_.access->AddToken(TokenOf('a')).ok());
  const auto tokens = pair_.access->ListTokens().value();
  ASSERT_TRUE(CopyDatabase(path_, copy_).ok());
  pair_ = {};
  EXPECT_EQ(CarryAccess(folder_.path() / "none.db", copy_).status().code(),
            absl::StatusCode::kNotFound);
  std::ofstream(path_, std::ios::binary) << std::string(8192, 'Z');
  EXPECT_FALSE(CarryAccess(path_, copy_).ok());
  EXPECT_EQ(OpenSqliteStore(copy_).value().access->ListTokens().value(),
            tokens);
}

TEST_F(Backup, KeepsItsTokensWhereTheOldOneNeverHadAny) {
  ASSERT_TRUE(pair_.access->AddToken(TokenOf('a')).ok());
  ASSERT_TRUE(CopyDatabase(path_, copy_).ok());
  pair_ = {};
  const fs::path fresh = folder_.path() / "fresh.db";
  ASSERT_TRUE(OpenSqliteStore(fresh).ok());
  EXPECT_TRUE(absl::IsNotFound(CarryAccess(fresh, copy_).status()));
  EXPECT_EQ(OpenSqliteStore(copy_).value().access->ListTokens()->size(), 1U);
}

TEST_F(Backup, TakesTokensOverWhereTheAuditIsLost) {
  ASSERT_TRUE(CopyDatabase(path_, copy_).ok());
  ASSERT_TRUE(pair_.access->AddToken(TokenOf('a')).ok());
  pair_ = {};
  SQLite::Database(path_.string(), SQLite::OPEN_READWRITE)
      .exec("DROP VIEW audit; DROP TABLE audit_entry");
  const auto counts = CarryAccess(path_, copy_);
  ASSERT_TRUE(counts.ok()) << counts.status();
  EXPECT_EQ(counts->tokens, 1);
}

TEST_F(Backup, WaitsForWhoUsesTheOldOneInsteadOfLettingTokensGo) {
  ASSERT_TRUE(CopyDatabase(path_, copy_).ok());
  ASSERT_TRUE(pair_.access->AddToken(TokenOf('a')).ok());
  pair_ = {};
  SQLite::Database other(path_.string(), SQLite::OPEN_READWRITE);
  other.exec("PRAGMA journal_mode = DELETE");
  other.exec("BEGIN EXCLUSIVE");
  EXPECT_TRUE(absl::IsUnavailable(CarryAccess(path_, copy_).status()));
}

TEST_F(Backup, IsNotPutWhereAFolderLies) {
  ASSERT_TRUE(CopyDatabase(path_, copy_).ok());
  const fs::path taken = folder_.path() / "taken";
  fs::create_directories(taken / "leadline.db" / "below");
  const auto aside = PutInPlace(copy_, taken / "leadline.db", ".before");
  EXPECT_EQ(ErrorOf(aside.status()), ErrorCode::kFile);
  EXPECT_TRUE(fs::exists(copy_));
}

TEST_F(Backup, ThatCannotBePutInPlaceLeavesTheOldOneItsLog) {
  // Still open, so that its log stays. There is no copy.
  ASSERT_TRUE(fs::exists(path_.string() + "-wal"));
  EXPECT_FALSE(PutInPlace(copy_, path_, ".before").ok());
  for (const char* part : {"", "-wal", "-shm"}) {
    EXPECT_TRUE(fs::exists(path_.string() + part)) << part;
    EXPECT_FALSE(fs::exists(path_.string() + ".before" + part)) << part;
  }
}

TEST_F(Backup, WhatAKillLeftInTheLogIsInWhatIsSetAside) {
  // As after a kill: the log lies beside the file.
  const fs::path killed = folder_.path() / "killed" / "leadline.db";
  fs::create_directory(killed.parent_path());
  fs::copy_file(path_, killed);
  fs::copy_file(path_.string() + "-wal", killed.string() + "-wal");
  ASSERT_TRUE(CopyDatabase(path_, killed.parent_path() / "copy").ok());
  const auto aside =
      PutInPlace(killed.parent_path() / "copy", killed, ".before");
  ASSERT_TRUE(aside.ok()) << aside.status();
  EXPECT_FALSE(fs::exists(aside->string() + "-wal"));
  const std::string expected = test::Dump(pair_, {"train_loss"});
  EXPECT_EQ(ContentsOf(*aside), expected);
}

}  // namespace
}  // namespace leadline::storage
