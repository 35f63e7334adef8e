#include "worker/inference/symbols.h"

#include <algorithm>

#include "worker/dataset/data_error.h"
#include "worker/dataset/utf8_decoder.h"

namespace leadline::inference {
namespace {

constexpr int64_t kBytes = 256;

std::vector<char32_t> CodePoints(std::string_view text) {
  std::vector<char32_t> code_points;
  try {
    dataset::Utf8Decoder decoder;
    decoder.Add(text, code_points);
    decoder.Finish();
  } catch (const dataset::DataError& error) {
    throw UnreadableText(std::string("the text is no UTF-8: ") + error.what());
  }
  return code_points;
}

std::string Utf8(char32_t point) {
  std::string text;
  const auto put = [&](uint32_t bits) { text += static_cast<char>(bits); };
  const auto rest = [&](int shift) { put(0x80U | ((point >> shift) & 0x3FU)); };
  if (point < 0x80U) {
    put(point);
  } else if (point < 0x800U) {
    put(0xC0U | (point >> 6));
    rest(0);
  } else if (point < 0x10000U) {
    put(0xE0U | (point >> 12));
    rest(6);
    rest(0);
  } else {
    put(0xF0U | (point >> 18));
    rest(12);
    rest(6);
    rest(0);
  }
  return text;
}

}  // namespace

Symbols::Symbols(const checkpoint::Manifest& manifest)
    : bytes_(manifest.dataset.tokenizer == "byte"),
      alphabet_(manifest.alphabet),
      count_(bytes_ ? kBytes : static_cast<int64_t>(alphabet_.size())) {}

std::vector<int64_t> Symbols::Read(std::string_view text) const {
  std::vector<int64_t> symbols;
  if (bytes_) {
    for (const char byte : text) {
      symbols.push_back(static_cast<unsigned char>(byte));
    }
    return symbols;
  }
  for (const char32_t point : CodePoints(text)) {
    const auto at = std::ranges::lower_bound(alphabet_, point);
    if (at == alphabet_.end() || *at != point) {
      throw UnreadableText("'" + Utf8(point) + "' is none of the " +
                           std::to_string(alphabet_.size()) +
                           " characters the model was trained on");
    }
    symbols.push_back(at - alphabet_.begin());
  }
  return symbols;
}

std::string Symbols::Text(int64_t symbol) const {
  if (bytes_) return {static_cast<char>(symbol)};
  return Utf8(alphabet_.at(static_cast<size_t>(symbol)));
}

}  // namespace leadline::inference
