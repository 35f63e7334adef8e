// An episode of the recall corpus: six pairs of a key (a letter of 16, none
// twice) and a value (a digit of 10), a question mark, then four times one of
// these keys and the value it was given, and the end of the line:
//
//   a3k7m2p0b5d1?m2a3a3d1
//
// A value asked for follows from the pairs alone, so it costs the ideal reader
// nothing and everyone else ln 10.

#include <array>

#include "worker/dataset/text_process.h"

namespace leadline::dataset {
namespace {

constexpr int kKeys = 16;
constexpr int kValues = 10;
constexpr int kPairs = 6;
constexpr int kQuestions = 4;

class RecallProcess final : public TextProcess {
 public:
  RecallProcess() { Start(); }

  const std::vector<TextOption>& Options() const override { return options_; }

  void Take(size_t index) override {
    const std::string taken = options_.at(index).text;
    switch (expects_) {
      case Expects::kKey:
        key_ = taken[0];
        return OfferValues();
      case Expects::kValue:
        values_[key_ - 'a'] = taken[0];
        ++pairs_;
        return pairs_ < kPairs ? OfferKeys(false) : OfferOnly('?');
      case Expects::kMark:
        return taken[0] == '?' ? OfferKeys(true) : Start();
      case Expects::kQuestion:
        key_ = taken[0];
        OfferOnly(values_[key_ - 'a']);
        expects_ = Expects::kAnswer;
        return;
      case Expects::kAnswer:
        ++answers_;
        return answers_ < kQuestions ? OfferKeys(true) : OfferOnly('\n');
    }
  }

 private:
  enum class Expects { kKey, kValue, kMark, kQuestion, kAnswer };

  void Start() {
    values_.fill('\0');
    pairs_ = 0;
    answers_ = 0;
    OfferKeys(false);
  }

  // Keys that have a value, or those that have none yet.
  void OfferKeys(bool known) {
    options_.clear();
    for (int k = 0; k < kKeys; ++k) {
      if ((values_[k] != '\0') == known) Add(static_cast<char>('a' + k));
    }
    expects_ = known ? Expects::kQuestion : Expects::kKey;
  }

  void OfferValues() {
    options_.clear();
    for (int v = 0; v < kValues; ++v) Add(static_cast<char>('0' + v));
    expects_ = Expects::kValue;
  }

  void OfferOnly(char symbol) {
    options_.clear();
    Add(symbol);
    expects_ = Expects::kMark;
  }

  void Add(char symbol) { options_.push_back({std::string(1, symbol), 1}); }

  Expects expects_ = Expects::kKey;
  std::array<char, kKeys> values_{};
  char key_ = 'a';
  int pairs_ = 0;
  int answers_ = 0;
  std::vector<TextOption> options_;
};

}  // namespace

std::unique_ptr<TextProcess> MakeRecallProcess() {
  return std::make_unique<RecallProcess>();
}

}  // namespace leadline::dataset
