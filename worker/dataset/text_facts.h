// What readers of a result should know of its text.

#pragma once

#include <cstdint>

#include "worker/dataset/symbol_text.h"

namespace leadline::dataset {

struct TextFacts {
  int64_t train = 0, validation = 0, test = 0;  // symbols
  int64_t vocabulary = 0;
  /// Symbols of validation and test that stand for characters which training
  /// lacks.
  int64_t unknown_validation = 0, unknown_test = 0;
  /// Stories of validation and test, and those of them whose text, blanks at
  /// both ends left out, is that of a training story.
  int64_t stories = 0, duplicates = 0;
  /// UTF-8 bytes of a validation character, so that bits/byte = bits/char /
  /// bytes_per_character. 1 for text in ASCII, and for bytes.
  double bytes_per_character = 1;
};

TextFacts FactsOf(const SymbolText& text);

}  // namespace leadline::dataset
