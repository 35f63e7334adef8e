// Between text and the symbols of a model.

#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "worker/checkpoint/manifest.h"

namespace leadline::inference {

/// A text that the model cannot read. The message says what in it.
class UnreadableText : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The symbols of a trained model's text. Immutable.
class Symbols {
 public:
  explicit Symbols(const checkpoint::Manifest& manifest);

  /// Throws UnreadableText for what is no UTF-8, or has characters that the
  /// training text had not.
  std::vector<int64_t> Read(std::string_view text) const;

  /// The bytes of one symbol.
  std::string Text(int64_t symbol) const;

  /// Symbols [0, count()) stand for text; one that may follow stands for what
  /// the training text had not.
  int64_t count() const { return count_; }

 private:
  bool bytes_;
  std::vector<char32_t> alphabet_;  // ascending; empty where bytes are symbols
  int64_t count_;
};

}  // namespace leadline::inference
