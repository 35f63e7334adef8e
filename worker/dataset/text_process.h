// A random process that writes text by weighted choices among pieces of text.
// Every text has one derivation, so its probability is known exactly.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace leadline::dataset {

/// A piece the process may write next. No option of a choice is a prefix of
/// another, so reading the text tells which was taken.
struct TextOption {
  std::string text;
  uint64_t weight = 0;  // probability = weight / sum of the choice's weights
};

/// The options depend on what was taken so far and on nothing else. Owned by
/// one thread.
class TextProcess {
 public:
  virtual ~TextProcess() = default;

  /// The options of the next choice, at least one, weights at least 1.
  virtual const std::vector<TextOption>& Options() const = 0;

  /// Takes option `index` of Options().
  virtual void Take(size_t index) = 0;
};

/// 27 symbols (space, a to z) drawn independently.
std::unique_ptr<TextProcess> MakeIidProcess();

/// Sentences over 16 or 64 invented words.
std::unique_ptr<TextProcess> MakeGrammarProcess(int words);

/// Pairs of key and value, asked for later.
std::unique_ptr<TextProcess> MakeRecallProcess();

/// The process of the built-in corpus of that name; null if there is none.
std::unique_ptr<TextProcess> MakeTextProcess(std::string_view corpus);

}  // namespace leadline::dataset
