#include "worker/dataset/text_facts.h"

#include <algorithm>
#include <functional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace leadline::dataset {
namespace {

using Story = std::span<const uint16_t>;
using StoriesByHash = std::unordered_multimap<size_t, Story>;

// Cuts the stories of a text to what people read.
class StoryTexts {
 public:
  explicit StoryTexts(const SymbolText& text) {
    const auto& alphabet = text.alphabet();
    is_blank_.assign(static_cast<size_t>(text.vocabulary()), false);
    for (size_t i = 0; i < alphabet.size(); ++i) {
      const char32_t c = alphabet[i];
      is_blank_[i] = c == U' ' || c == U'\n' || c == U'\r' || c == U'\t';
    }
    for (const char32_t c : std::u32string_view(U"<|endoftext|>")) {
      const auto at = std::lower_bound(alphabet.begin(), alphabet.end(), c);
      if (at == alphabet.end() || *at != c) {
        separator_.clear();
        return;
      }
      separator_.push_back(static_cast<uint16_t>(at - alphabet.begin()));
    }
  }

  Story Trim(Story story) const {
    story = TrimBlanks(story);
    const size_t size = separator_.size();
    if (size > 0 && story.size() >= size &&
        std::ranges::equal(story.last(size), separator_)) {
      story = TrimBlanks(story.first(story.size() - size));
    }
    return story;
  }

  /// Calls `take` with each story that is not empty.
  template <typename Take>
  void ForEach(Story part, const std::vector<int64_t>& ends, Take take) const {
    int64_t begin = 0;
    for (const int64_t end : ends) {
      const Story story = Trim(part.subspan(begin, end - begin));
      if (!story.empty()) take(story);
      begin = end;
    }
  }

 private:
  Story TrimBlanks(Story story) const {
    while (!story.empty() && is_blank_[story.front()]) {
      story = story.subspan(1);
    }
    while (!story.empty() && is_blank_[story.back()]) {
      story = story.first(story.size() - 1);
    }
    return story;
  }

  std::vector<bool> is_blank_;  // by symbol
  std::vector<uint16_t> separator_;
};

size_t HashOf(Story story) {
  return std::hash<std::string_view>()(
      {reinterpret_cast<const char*>(story.data()), story.size_bytes()});
}

// Takes out of `held_out` every story equal to `story`, and counts them.
int64_t TakeEqual(StoriesByHash& held_out, Story story) {
  int64_t count = 0;
  auto [at, end] = held_out.equal_range(HashOf(story));
  while (at != end) {
    if (std::ranges::equal(at->second, story)) {
      at = held_out.erase(at);
      ++count;
    } else {
      ++at;
    }
  }
  return count;
}

void CountStories(const SymbolText& text, TextFacts& facts) {
  if (!text.has_stories()) return;
  const StoryTexts stories(text);
  StoriesByHash held_out;
  const auto add = [&](Story story) {
    held_out.emplace(HashOf(story), story);
    ++facts.stories;
  };
  stories.ForEach(text.validation(), text.validation_ends(), add);
  stories.ForEach(text.test(), text.test_ends(), add);
  stories.ForEach(text.train(), text.train_ends(), [&](Story story) {
    facts.duplicates += TakeEqual(held_out, story);
  });
}

}  // namespace

TextFacts FactsOf(const SymbolText& text) {
  TextFacts facts;
  facts.train = static_cast<int64_t>(text.train().size());
  facts.validation = static_cast<int64_t>(text.validation().size());
  facts.test = static_cast<int64_t>(text.test().size());
  facts.vocabulary = text.vocabulary();
  facts.bytes_per_character = text.validation_bytes_per_character();
  if (text.has_unknown()) {
    const auto unknown = static_cast<uint16_t>(text.vocabulary() - 1);
    facts.unknown_validation = std::ranges::count(text.validation(), unknown);
    facts.unknown_test = std::ranges::count(text.test(), unknown);
  }
  CountStories(text, facts);
  return facts;
}

}  // namespace leadline::dataset
