// A sentence of the grammars:
//
//   opener NOUNS verb [NOUNS] closer ". "      NOUNS = determiner adjective*
//   noun
//
// The verb agrees with the subject's determiner, the closer with the opener:
// far apart, with anything between them. Inside a class (and the part of it
// that agrees) the word of rank k has a weight proportional to 1/k.

#include <array>
#include <stdexcept>

#include "worker/dataset/text_process.h"

namespace leadline::dataset {
namespace {

// Chances in tenths.
constexpr uint64_t kAdjective = 4;
constexpr uint64_t kNoun = 6;
constexpr uint64_t kObject = 6;
constexpr uint64_t kNoObject = 4;
constexpr int kMostAdjectives = 3;

// Divisible by 1 to 10, so that the common ranks follow the law exactly.
constexpr uint64_t kZipfScale = 2520;

std::string InventedWord(int index) {
  constexpr std::array<const char*, 8> kOnsets = {"b", "d", "f", "g",
                                                  "k", "l", "m", "n"};
  constexpr std::array<const char*, 8> kRimes = {"a", "en",  "i",  "or",
                                                 "u", "ash", "et", "ol"};
  const int onset = index % 8;
  return std::string(kOnsets[onset]) + kRimes[(index / 8 + 3 * onset) % 8];
}

// Words of one class, in parts that agree with something; ranks inside a part.
struct WordClass {
  std::vector<std::vector<std::string>> parts;
};

struct Vocabulary {
  WordClass openers, determiners, adjectives, nouns, verbs, closers;
};

WordClass TakeWords(int parts, int words_a_part, const char* end, int& next) {
  WordClass result;
  for (int part = 0; part < parts; ++part) {
    result.parts.emplace_back();
    for (int rank = 0; rank < words_a_part; ++rank) {
      result.parts.back().push_back(InventedWord(next++) + end);
    }
  }
  return result;
}

Vocabulary MakeVocabulary(int words) {
  if (words != 16 && words != 64) {
    throw std::logic_error("a grammar has 16 or 64 words");
  }
  const bool large = words == 64;
  const int forms = large ? 4 : 2;  // of mood, and of agreement
  int next = 0;
  Vocabulary v;
  v.openers = TakeWords(forms, 1, " ", next);
  v.determiners = TakeWords(forms, 1, " ", next);
  v.adjectives = TakeWords(1, large ? 16 : 3, " ", next);
  v.nouns = TakeWords(1, large ? 20 : 3, " ", next);
  v.verbs = TakeWords(forms, large ? 4 : 2, " ", next);
  v.closers = TakeWords(forms, 1, ". ", next);
  return v;
}

class GrammarProcess final : public TextProcess {
 public:
  explicit GrammarProcess(int words) : vocabulary_(MakeVocabulary(words)) {
    Offer();
  }

  const std::vector<TextOption>& Options() const override { return options_; }

  void Take(size_t index) override {
    const Next next = next_.at(index);
    switch (next.word) {
      case Word::kOpener:
        mood_ = next.part;
        in_subject_ = true;
        break;
      case Word::kDeterminer:
        adjectives_ = 0;
        if (in_subject_) agreement_ = next.part;
        break;
      case Word::kAdjective:
        ++adjectives_;
        break;
      case Word::kVerb:
        in_subject_ = false;
        break;
      case Word::kNoun:
      case Word::kCloser:
        break;
    }
    last_ = next.word;
    Offer();
  }

 private:
  enum class Word { kOpener, kDeterminer, kAdjective, kNoun, kVerb, kCloser };
  struct Next {
    Word word;
    size_t part;
  };

  // Words of one part; their weights sum to chance * 10^6, nearly, whatever
  // their number.
  void OfferPart(Word word, const WordClass& words, size_t part,
                 uint64_t chance) {
    uint64_t total = 0;
    const auto& texts = words.parts[part];
    for (size_t rank = 1; rank <= texts.size(); ++rank) {
      total += kZipfScale / rank;
    }
    for (size_t rank = 1; rank <= texts.size(); ++rank) {
      const uint64_t weight = chance * (kZipfScale / rank) * 1'000'000 / total;
      options_.push_back({texts[rank - 1], weight});
      next_.push_back({word, part});
    }
  }

  void OfferClass(Word word, const WordClass& words, uint64_t chance) {
    for (size_t part = 0; part < words.parts.size(); ++part) {
      // 12 is divisible by every number of parts; ranks of parts follow the
      // same law as words.
      OfferPart(word, words, part, chance * 12 / (part + 1));
    }
  }

  void Offer() {
    options_.clear();
    next_.clear();
    const Vocabulary& v = vocabulary_;
    switch (last_) {
      case Word::kCloser:
        OfferClass(Word::kOpener, v.openers, 1);
        break;
      case Word::kOpener:
        OfferClass(Word::kDeterminer, v.determiners, 1);
        break;
      case Word::kDeterminer:
      case Word::kAdjective:
        if (adjectives_ < kMostAdjectives) {
          OfferClass(Word::kAdjective, v.adjectives, kAdjective);
        }
        OfferClass(Word::kNoun, v.nouns, kNoun);
        break;
      case Word::kVerb:
        // The chances of four determiners, 12 (1 + 1/2 + 1/3 + 1/4) = 25, or
        // of two, 18, against those of one closer.
        OfferClass(Word::kDeterminer, v.determiners, kObject);
        OfferPart(Word::kCloser, v.closers, mood_,
                  kNoObject * (v.determiners.parts.size() == 4 ? 25 : 18));
        break;
      case Word::kNoun:
        if (in_subject_) {
          OfferPart(Word::kVerb, v.verbs, agreement_, 1);
        } else {
          OfferPart(Word::kCloser, v.closers, mood_, 1);
        }
        break;
    }
  }

  Vocabulary vocabulary_;
  Word last_ = Word::kCloser;
  size_t mood_ = 0;
  size_t agreement_ = 0;
  bool in_subject_ = true;
  int adjectives_ = 0;
  std::vector<TextOption> options_;
  std::vector<Next> next_;
};

}  // namespace

std::unique_ptr<TextProcess> MakeGrammarProcess(int words) {
  return std::make_unique<GrammarProcess>(words);
}

}  // namespace leadline::dataset
