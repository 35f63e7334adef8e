#include "worker/dataset/text_facts.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "worker/dataset/story_ends.h"

namespace leadline::dataset {
namespace {

// Symbols are the characters' places in the alphabet.
SymbolText Text(const std::u32string& train, const std::u32string& validation,
                const std::u32string& test = U"") {
  const std::u32string all = train + validation + test;
  std::u32string sorted = U"\n <>|abcdefnotxy";
  std::sort(sorted.begin(), sorted.end());
  std::vector<uint16_t> symbols;
  for (const char32_t c : all) {
    symbols.push_back(static_cast<uint16_t>(sorted.find(c)));
  }
  StoryEnds ends;
  ends.Add(all);
  return {std::move(symbols),
          {static_cast<int64_t>(train.size()),
           static_cast<int64_t>(validation.size()),
           static_cast<int64_t>(test.size())},
          {sorted.begin(), sorted.end()},
          false,
          ends.ends()};
}

constexpr char32_t kEnd[] = U"\n<|endoftext|>\n";

TEST(TextFacts, StoriesThatStandInTrainingAreCountedOnceEach) {
  const std::u32string end = kEnd;
  const TextFacts facts =
      FactsOf(Text(U"ab" + end + U"\nabc" + end + U"ab" + end + U"cd",
                   // ab, and abc with other blanks around it; not "a b".
                   end + U"\nab" + end + U" abc" + end + U"a b" + end,
                   U"ab" + end + U"cd" + end + U"x"));
  EXPECT_EQ(facts.stories, 6);
  EXPECT_EQ(facts.duplicates, 4);
}

TEST(TextFacts, TextWithoutStoriesHasNone) {
  const TextFacts facts = FactsOf(Text(U"abab", U"ab", U"ab"));
  EXPECT_EQ(facts.stories, 0);
  EXPECT_EQ(facts.duplicates, 0);
  EXPECT_EQ(facts.train, 4);
  EXPECT_EQ(facts.test, 2);
}

TEST(TextFacts, SymbolsTrainingLacksAreCountedBySplit) {
  const SymbolText text({0, 1, 0, 2, 1, 2, 2}, {2, 2, 3}, {U'a', U'b'}, true);
  const TextFacts facts = FactsOf(text);
  EXPECT_EQ(facts.vocabulary, 3);
  EXPECT_EQ(facts.unknown_validation, 1);
  EXPECT_EQ(facts.unknown_test, 2);
}

}  // namespace
}  // namespace leadline::dataset
