#include "worker/dataset/built_in_corpus.h"

#include <cmath>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "common/sha256.h"
#include "model/spec/dataset_table.h"
#include "worker/dataset/data_error.h"
#include "worker/dataset/split_rule.h"

namespace leadline::dataset {
namespace {

class BuiltInCorpus : public testing::TestWithParam<const char*> {
 protected:
  const spec::DatasetInfo& Info() const {
    return *spec::FindDataset(GetParam());
  }
  static GeneratedText Make() {
    return GenerateText(*MakeTextProcess(GetParam()), GetParam());
  }
};

TEST_P(BuiltInCorpus, IsTheTextOfTheTable) {
  const GeneratedText made = Make();
  EXPECT_EQ(static_cast<int64_t>(made.text.size()), Info().bytes);
  EXPECT_EQ(Sha256Of(made.text), Info().content_hash);
  const std::set<char> symbols(made.text.begin(), made.text.end());
  EXPECT_EQ(static_cast<int64_t>(symbols.size()), Info().vocabulary);
}

TEST_P(BuiltInCorpus, ScorerThatReadsOnlyTheTextFindsTheGeneratorsSum) {
  const GeneratedText made = Make();
  const std::vector<double> nats =
      ScoreText(*MakeTextProcess(GetParam()), made.text);
  ASSERT_EQ(nats.size(), made.text.size());
  EXPECT_NEAR(CompensatedSum(nats.data(), nats.size()), made.nats, 1e-9);
}

TEST_P(BuiltInCorpus, FloorsOfTheTableAreThoseOfTheText) {
  const GeneratedText made = Make();
  const std::vector<double> nats =
      ScoreText(*MakeTextProcess(GetParam()), made.text);
  const SplitSizes sizes =
      SplitByFractions(static_cast<int64_t>(nats.size()), Info().split);
  EXPECT_NEAR(Floor(nats, sizes.train, sizes.validation),
              Info().validation_floor.value(), 1e-12);
  EXPECT_NEAR(Floor(nats, sizes.train + sizes.validation, sizes.test),
              Info().test_floor.value(), 1e-12);
}

TEST_P(BuiltInCorpus, TextOfAnotherProcessIsRefused) {
  EXPECT_THROW(ScoreText(*MakeTextProcess(GetParam()), "aZ"), DataError);
}

INSTANTIATE_TEST_SUITE_P(All, BuiltInCorpus,
                         testing::Values("iid27", "grammar16", "grammar64",
                                         "recall"),
                         [](const auto& info) { return info.param; });

TEST(IidCorpus, FloorIsTheCrossEntropyOfStatedProbabilities) {
  // Counted apart from the process: space 39 of 390, letter k 26 - k of 390.
  const GeneratedText made = GenerateText(*MakeIidProcess(), "iid27", 10'000);
  double nats = 0;
  for (const char c : made.text) {
    nats -= std::log((c == ' ' ? 39 : 26 - (c - 'a')) / 390.0);
  }
  EXPECT_NEAR(made.nats, nats, 1e-8);
}

TEST(GrammarCorpus, CloserFollowsOpenerAndVerbFollowsDeterminer) {
  const std::string text =
      GenerateText(*MakeGrammarProcess(64), "grammar64", 200'000).text;
  std::map<std::string, std::set<std::string>> closers;
  for (size_t begin = 0, end; (end = text.find(". ", begin)) != text.npos;
       begin = end + 2) {
    const std::string sentence = text.substr(begin, end - begin);
    closers[sentence.substr(0, sentence.find(' '))].insert(
        sentence.substr(sentence.rfind(' ') + 1));
  }
  EXPECT_EQ(closers.size(), 4U);
  std::set<std::string> all;
  for (const auto& [opener, its_closers] : closers) {
    EXPECT_EQ(its_closers.size(), 1U) << opener;
    all.merge(std::set<std::string>(its_closers));
  }
  EXPECT_EQ(all.size(), 4U);
}

TEST(GrammarCorpus, HasSixtyFourWords) {
  const std::string text =
      GenerateText(*MakeGrammarProcess(64), "grammar64", 200'000).text;
  std::set<std::string> words;
  for (size_t begin = 0, end; (end = text.find(' ', begin)) != text.npos;
       begin = end + 1) {
    words.insert(text.substr(begin, end - begin));
  }
  EXPECT_EQ(words.size(), 64U);
}

TEST(RecallCorpus, AnswersAreTheValuesOfTheirKeys) {
  const std::string text =
      GenerateText(*MakeRecallProcess(), "recall", 22 * 500).text;
  for (size_t begin = 0; begin < text.size(); begin += 22) {
    const std::string episode = text.substr(begin, 22);
    std::map<char, char> values;
    for (int i = 0; i < 12; i += 2) values[episode[i]] = episode[i + 1];
    EXPECT_EQ(values.size(), 6U);
    EXPECT_EQ(episode[12], '?');
    for (int i = 13; i < 21; i += 2) {
      EXPECT_EQ(values.at(episode[i]), episode[i + 1]) << episode;
    }
    EXPECT_EQ(episode[21], '\n');
  }
}

}  // namespace
}  // namespace leadline::dataset
