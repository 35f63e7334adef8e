#include "worker/dataset/symbol_numbering.h"

#include <algorithm>

#include "worker/dataset/data_error.h"

namespace leadline::dataset {
namespace {

constexpr uint16_t kNone = 0xFFFF;
constexpr size_t kCodePoints = 0x110000;

}  // namespace

SymbolNumbering::SymbolNumbering() : numbers_(kCodePoints, kNone) {}

void SymbolNumbering::Add(std::span<const char32_t> code_points) {
  for (const char32_t code_point : code_points) {
    uint16_t& number = numbers_[code_point];
    if (number == kNone) {
      if (characters_.size() == kNone) {
        throw DataError("the text has more than 65,535 different characters");
      }
      number = static_cast<uint16_t>(characters_.size());
      characters_.push_back(code_point);
    }
    symbols_.push_back(number);
  }
}

int64_t SymbolNumbering::CountUtf8Bytes(int64_t begin, int64_t count) const {
  int64_t bytes = 0;
  for (int64_t i = begin; i < begin + count; ++i) {
    const char32_t c = characters_[symbols_[static_cast<size_t>(i)]];
    bytes += c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  }
  return bytes;
}

SymbolNumbering::Numbered SymbolNumbering::Finish(int64_t train) {
  std::vector<bool> in_training(characters_.size(), false);
  for (int64_t i = 0; i < train; ++i) in_training[symbols_[i]] = true;

  Numbered result;
  for (size_t n = 0; n < characters_.size(); ++n) {
    if (in_training[n]) result.alphabet.push_back(characters_[n]);
  }
  std::sort(result.alphabet.begin(), result.alphabet.end());
  result.has_unknown = result.alphabet.size() < characters_.size();

  std::vector<uint16_t> final_number(characters_.size());
  for (size_t n = 0; n < characters_.size(); ++n) {
    // Of characters that training lacks, the position is not theirs.
    const auto at = std::lower_bound(result.alphabet.begin(),
                                     result.alphabet.end(), characters_[n]);
    final_number[n] = static_cast<uint16_t>(
        in_training[n] ? at - result.alphabet.begin()
                       : static_cast<int64_t>(result.alphabet.size()));
  }
  for (uint16_t& symbol : symbols_) symbol = final_number[symbol];
  result.symbols = std::move(symbols_);
  return result;
}

}  // namespace leadline::dataset
