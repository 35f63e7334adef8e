#include "coordinator/access/token_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/sha256.h"

namespace leadline::access {
namespace {

using std::chrono::seconds;
using storage::WallTime;
using testing::HasSubstr;

const std::string kSecret(64, 'a');

storage::TokenRecord Token(int64_t id) {
  storage::TokenRecord token;
  token.id = id;
  token.role = AccessRole::kSubmit;
  token.hash = Sha256Of(kSecret);
  return token;
}

WallTime At(int64_t s) { return WallTime(seconds(s)); }

std::string WhyNot(const TokenBook& book, const std::string& shown,
                   WallTime now = {}) {
  const auto checked = book.Check(shown, now);
  EXPECT_TRUE(absl::IsUnauthenticated(checked.status())) << shown;
  return std::string(checked.status().message());
}

TEST(TokenBookTest, TheTokenWithItsSecretIsKnown) {
  const TokenBook book({Token(3)});
  const auto token = book.Check(TokenSecretText(3, kSecret), At(0));
  ASSERT_TRUE(token.ok()) << token.status();
  EXPECT_EQ(token->id, 3);
  EXPECT_EQ(token->role, AccessRole::kSubmit);
}

TEST(TokenBookTest, AWrongSecretAndAnUnknownIdLookAlike) {
  const TokenBook book({Token(3)});
  const std::string wrong = kSecret.substr(1) + "b";
  EXPECT_EQ(WhyNot(book, TokenSecretText(3, wrong)),
            WhyNot(book, TokenSecretText(4, kSecret)));
}

TEST(TokenBookTest, OnlyWhoHasTheSecretIsToldThatItEnded) {
  storage::TokenRecord token = Token(3);
  token.revoked_at = At(5);
  const TokenBook book({token});
  EXPECT_THAT(WhyNot(book, TokenSecretText(3, kSecret)), HasSubstr("revoked"));
  EXPECT_THAT(WhyNot(book, TokenSecretText(3, std::string(64, 'b'))),
              HasSubstr("not known"));
}

TEST(TokenBookTest, ATokenEndsAtItsMomentAndNotBefore) {
  storage::TokenRecord token = Token(3);
  token.expires_at = At(10);
  const TokenBook book({token});
  const std::string shown = TokenSecretText(3, kSecret);
  EXPECT_TRUE(book.Check(shown, At(10) - std::chrono::microseconds(1)).ok());
  EXPECT_THAT(WhyNot(book, shown, At(10)), HasSubstr("expired"));
  EXPECT_TRUE(book.HasValid(At(9)));
  EXPECT_FALSE(book.HasValid(At(10)));
  EXPECT_TRUE(book.IsInUse());
}

TEST(TokenBookTest, WhatIsNoTokenIsRefusedAtOnce) {
  const TokenBook book({Token(3)});
  for (const std::string& shown :
       {std::string(), std::string("llt3_"), std::string("llt3"),
        "llt3_" + kSecret + "a", "llt3_" + std::string(64, 'A'),
        "llt3_" + std::string(64, 'g'), "t3_" + kSecret, "llt03_" + kSecret,
        "llt-3_" + kSecret, "llt3 _" + kSecret,
        "llt99999999999999999999_" + kSecret, std::string(100'000, 'l'),
        std::string("llt3_\0", 6) + kSecret}) {
    EXPECT_FALSE(ParseToken(shown)) << shown.substr(0, 80);
    EXPECT_THAT(WhyNot(book, shown), HasSubstr("no token"));
  }
}

TEST(TokenBookTest, WithoutATokenEverMadeNoneIsInUse) {
  EXPECT_FALSE(TokenBook({}).IsInUse());
  EXPECT_FALSE(TokenBook({}).HasValid(At(0)));
}

}  // namespace
}  // namespace leadline::access
