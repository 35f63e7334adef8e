#include "worker/dataset/symbol_text.h"

#include <cmath>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "common/sha256.h"
#include "worker/dataset/data_error.h"
#include "worker/dataset/story_ends.h"

namespace leadline::dataset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class SymbolTextTest : public testing::Test {
 protected:
  SymbolTextTest() {
    std::string pattern = testing::TempDir() + "symbol_text_XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~SymbolTextTest() override { std::filesystem::remove_all(folder_); }

  spec::Dataset File(const std::string& bytes,
                     std::array<double, 3> split = {0.5, 0.5, 0.0}) const {
    const std::filesystem::path path = folder_ / "text.txt";
    std::ofstream(path, std::ios::binary) << bytes;
    spec::Dataset dataset;
    dataset.path = path;
    dataset.content_hash = Sha256Of(bytes);
    dataset.split = split;
    return dataset;
  }

  std::filesystem::path folder_;
};

TEST_F(SymbolTextTest, NumbersFollowTheCodePointsOfTraining) {
  const SymbolText text = LoadText(File("b\xC3\xA9 ab b"));
  EXPECT_THAT(text.train(), ElementsAre(1, 2, 0));  // b é space
  EXPECT_THAT(text.alphabet(), ElementsAre(U' ', U'b', U'\u00e9'));
}

TEST_F(SymbolTextTest, CharactersTrainingLacksAreUnknown) {
  const SymbolText text = LoadText(File("ababcaZb"));
  EXPECT_THAT(text.train(), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(text.validation(), ElementsAre(2, 0, 2, 1));
  EXPECT_EQ(text.vocabulary(), 3);
  EXPECT_TRUE(text.has_unknown());
}

TEST_F(SymbolTextTest, NoUnknownSymbolWhereNoneIsNeeded) {
  EXPECT_EQ(LoadText(File("abab")).vocabulary(), 2);
}

TEST_F(SymbolTextTest, BytesAreTheirValues) {
  spec::Dataset dataset = File(std::string("a\xFF\x00z", 4));
  dataset.tokenizer = "byte";
  const SymbolText text = LoadText(dataset);
  EXPECT_THAT(text.train(), ElementsAre(97, 255));
  EXPECT_THAT(text.validation(), ElementsAre(0, 122));
  EXPECT_EQ(text.vocabulary(), 256);
}

TEST_F(SymbolTextTest, FractionsCountCodePoints) {
  const SymbolText text =
      LoadText(File("\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9zz", {0.5, 0.25, 0.25}));
  EXPECT_EQ(text.train().size(), 3U);
  EXPECT_EQ(text.validation().size(), 1U);
  EXPECT_EQ(text.test().size(), 2U);
}

TEST_F(SymbolTextTest, ChangedFileIsRefused) {
  const spec::Dataset dataset = File("some text");
  File("some tExt");
  EXPECT_THAT([&] { LoadText(dataset); },
              ThrowsMessage<DataError>(HasSubstr("has changed")));
}

TEST_F(SymbolTextTest, Md5IsAContentHashToo) {
  spec::Dataset dataset = File("abab");
  dataset.content_hash = "md5:585adf88cdd3693831b0748f409ce846";
  EXPECT_EQ(LoadText(dataset).vocabulary(), 2);
}

TEST_F(SymbolTextTest, InvalidUtf8IsRefusedWithItsOffset) {
  for (const std::string bad : {"ab\x80", "ab\xC0\xAF", "ab\xED\xA0\x80",
                                "ab\xF4\x90\x80\x80", "ab\xE2\x82", "ab\xFF"}) {
    EXPECT_THAT([&] { LoadText(File(bad)); },
                ThrowsMessage<DataError>(HasSubstr("UTF-8")));
  }
  EXPECT_THAT([&] { LoadText(File("ab\xFFz")); },
              ThrowsMessage<DataError>(HasSubstr("byte offset 2")));
}

TEST_F(SymbolTextTest, MissingFilesFoldersAndPipesAreRefused) {
  spec::Dataset dataset = File("abab");
  dataset.path = folder_ / "none.txt";
  EXPECT_THROW(LoadText(dataset), DataError);
  dataset.path = folder_;
  EXPECT_THROW(LoadText(dataset), DataError);
  dataset.path = folder_ / "pipe";
  ASSERT_EQ(mkfifo(dataset.path.c_str(), 0600), 0);
  EXPECT_THROW(LoadText(dataset), DataError);
}

TEST_F(SymbolTextTest, FileThatGrewBeyondAllTextIsRefusedUnread) {
  const spec::Dataset dataset = File("abab");
  std::filesystem::resize_file(dataset.path, uintmax_t{1} << 40);
  EXPECT_THAT([&] { LoadText(dataset); },
              ThrowsMessage<DataError>(HasSubstr("a data set may have")));
}

TEST_F(SymbolTextTest, SplitsShorterThanAWindowAreRefused) {
  const SymbolText text = LoadText(File("abcdefgh"));
  EXPECT_NO_THROW(text.RequireWindow(3));
  EXPECT_THAT([&] { text.RequireWindow(4); },
              ThrowsMessage<DataError>(HasSubstr("training split")));
}

TEST_F(SymbolTextTest, EmptyFileHasNoWindow) {
  const SymbolText text = LoadText(File(""));
  EXPECT_THROW(text.RequireWindow(1), DataError);
}

TEST(SplitRule, SizesOfTheSamplesAreAsPublished) {
  constexpr std::array<double, 3> kUsual = {0.9, 0.05, 0.05};
  EXPECT_EQ(SplitByFractions(3'085'829, kUsual),
            (SplitSizes{2'777'246, 154'291, 154'292}));
  EXPECT_EQ(SplitByFractions(2'094'222, kUsual),
            (SplitSizes{1'884'799, 104'711, 104'712}));
  EXPECT_EQ(SplitByFractions(1'115'394, {0.9, 0.1, 0.0}),
            (SplitSizes{1'003'854, 111'540, 0}));
  EXPECT_EQ(SplitByFractions(100'000'000, kUsual),
            (SplitSizes{90'000'000, 5'000'000, 5'000'000}));
}

TEST(SplitRule, FractionsThatCannotBeAreRefused) {
  for (const std::array<double, 3> bad :
       {std::array{0.5, 0.6, -0.1}, std::array{0.5, 0.4, 0.0},
        std::array{0.0, 1.0, 0.0}, std::array{1.0, 0.0, 0.0},
        std::array{std::nan(""), 0.5, 0.5}}) {
    EXPECT_THROW(SplitByFractions(100, bad), DataError);
  }
}

TEST(StoryEnds, FirstHalfEndsAfterItsLastSeparator) {
  const std::u32string stories =
      U"one\n<|endoftext|>\n\ntwo <\n<|endoftext|>\nthree\n<|endoftext|>\nfour";
  StoryEnds found;
  for (size_t i = 0; i < stories.size(); i += 5) {
    found.Add(
        std::span(stories).subspan(i, std::min<size_t>(5, stories.size() - i)));
  }
  EXPECT_EQ(FirstHalf(found.ends(), found.size()),
            static_cast<int64_t>(stories.find(U"three")));
  EXPECT_EQ(found.size(), static_cast<int64_t>(stories.size()));
}

TEST(StoryEnds, OfAPartCountFromItsBeginning) {
  const std::vector<int64_t> ends = {3, 10, 20};
  EXPECT_THAT(EndsWithin(ends, 0, 25), ElementsAre(3, 10, 20, 25));
  EXPECT_THAT(EndsWithin(ends, 0, 20), ElementsAre(3, 10, 20));
  EXPECT_THAT(EndsWithin(ends, 3, 8), ElementsAre(7, 8));
  EXPECT_THAT(EndsWithin(ends, 11, 2), ElementsAre(2));
  EXPECT_THAT(EndsWithin(ends, 20, 0), ElementsAre());
}

TEST_F(SymbolTextTest, StoriesAreFoundInEverySplitAndAsBytesToo) {
  const std::string end = "\n<|endoftext|>\n";
  spec::Dataset dataset = File(
      "ab" + end + "abc" + end + "b" + end + "ab" + end, {0.5, 0.25, 0.25});
  for (const char* tokenizer : {"char", "byte"}) {
    dataset.tokenizer = tokenizer;
    const SymbolText text = LoadText(dataset);
    ASSERT_EQ(text.train().size(), 34U);
    EXPECT_THAT(text.train_ends(), ElementsAre(17, 34));
    EXPECT_THAT(text.validation_ends(), ElementsAre(1, 17));
    EXPECT_THAT(text.test_ends(), ElementsAre(17));
    EXPECT_TRUE(text.has_stories());
  }
  EXPECT_THAT(LoadText(File("abab")).train_ends(), ElementsAre(2));
}

TEST_F(SymbolTextTest, HeldOutFileIsForTheRegisteredSplitAlone) {
  const spec::DatasetInfo& info = *spec::FindDataset("tinystories");
  spec::Dataset dataset = File("some text of mine");
  dataset.content_hash = info.content_hash;
  // Either way the hash is wrong here; only the registered one could look for
  // a second file, and neither splits by fractions that leave nothing.
  EXPECT_THROW(LoadText(dataset), DataError);
  dataset.content_hash = Sha256Of("some text of mine");
  dataset.split = info.split;
  EXPECT_THAT([&] { LoadText(dataset); },
              ThrowsMessage<DataError>(HasSubstr("fraction above 0")));
}

}  // namespace
}  // namespace leadline::dataset
