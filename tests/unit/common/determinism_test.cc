#include "common/determinism.h"

#include <set>

#include <gtest/gtest.h>

namespace leadline {
namespace {

TEST(Determinism, EachHasAWordOfItsOwnThatReadsBack) {
  std::set<std::string_view> words;
  for (const Determinism determinism : kDeterminisms) {
    words.insert(Name(determinism));
    EXPECT_EQ(ParseDeterminism(Name(determinism)), determinism);
  }
  EXPECT_EQ(words.size(), kDeterminisms.size());
  for (const char* other : {"", "bit-exact", "BIT_EXACT", "unknown "}) {
    EXPECT_FALSE(ParseDeterminism(other).has_value()) << other;
  }
}

}  // namespace
}  // namespace leadline
