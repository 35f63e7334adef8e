#include "worker/dataset/symbol_text.h"

#include <functional>
#include <string>
#include <utility>

#include "worker/dataset/data_error.h"
#include "worker/dataset/story_ends.h"
#include "worker/dataset/symbol_numbering.h"
#include "worker/dataset/text_reader.h"
#include "worker/dataset/utf8_decoder.h"

namespace leadline::dataset {
namespace {

void CheckHash(const std::string& path, std::string_view expected,
               const std::string& found) {
  if (found == expected) return;
  throw DataError("the content of " + path + " has hash " + found +
                  ", the configuration says " + std::string(expected) +
                  ": the file has changed since it was hashed");
}

// Reads a file and passes on its characters (or its bytes).
void ReadCharacters(
    const std::filesystem::path& path, std::string_view content_hash,
    bool bytes_are_characters,
    const std::function<void(std::span<const char32_t>)>& take) {
  Utf8Decoder decoder;
  std::vector<char32_t> piece;
  std::string fault;  // told only of a file that is the right one
  const auto decode = [&](std::string_view bytes) {
    piece.clear();
    if (bytes_are_characters) {
      for (const char byte : bytes) {
        piece.push_back(static_cast<unsigned char>(byte));
      }
    } else if (fault.empty()) {
      try {
        bytes.empty() ? decoder.Finish() : decoder.Add(bytes, piece);
      } catch (const DataError& error) {
        fault = error.what();
      }
    }
    take(piece);
  };
  CheckHash(path.string(), content_hash,
            ReadAndHash(path, content_hash, decode));
  decode({});
  if (!fault.empty()) throw DataError(path.string() + ": " + fault);
}

SymbolText BytesText(std::vector<uint16_t> bytes, const SplitSizes& sizes,
                     std::vector<int64_t> story_ends) {
  std::vector<char32_t> alphabet(256);
  for (char32_t byte = 0; byte < 256; ++byte) alphabet[byte] = byte;
  return {std::move(bytes), sizes, std::move(alphabet), false,
          std::move(story_ends)};
}

// The row whose file has that content and which holds out a second file. A
// user's copy of the file, with a split of its own, is no such row.
const spec::DatasetInfo* FindHeldOut(const spec::Dataset& dataset) {
  for (const spec::DatasetInfo& info : spec::DatasetTable()) {
    if (!info.held_out_file.empty() &&
        info.content_hash == dataset.content_hash &&
        info.split == dataset.split) {
      return &info;
    }
  }
  return nullptr;
}

}  // namespace

SymbolText::SymbolText(std::vector<uint16_t> symbols, const SplitSizes& sizes,
                       std::vector<char32_t> alphabet, bool has_unknown,
                       std::vector<int64_t> story_ends,
                       double validation_bytes_per_character)
    : symbols_(std::move(symbols)),
      sizes_(sizes),
      alphabet_(std::move(alphabet)),
      has_unknown_(has_unknown),
      story_ends_(std::move(story_ends)),
      validation_bytes_per_character_(validation_bytes_per_character) {}

std::span<const uint16_t> SymbolText::Part(int64_t begin, int64_t size) const {
  return std::span(symbols_).subspan(begin, size);
}

std::span<const uint16_t> SymbolText::train() const {
  return Part(0, sizes_.train);
}

std::span<const uint16_t> SymbolText::validation() const {
  return Part(sizes_.train, sizes_.validation);
}

std::span<const uint16_t> SymbolText::test() const {
  return Part(sizes_.train + sizes_.validation, sizes_.test);
}

std::vector<int64_t> SymbolText::train_ends() const {
  return EndsWithin(story_ends_, 0, sizes_.train);
}

std::vector<int64_t> SymbolText::validation_ends() const {
  return EndsWithin(story_ends_, sizes_.train, sizes_.validation);
}

std::vector<int64_t> SymbolText::test_ends() const {
  return EndsWithin(story_ends_, sizes_.train + sizes_.validation, sizes_.test);
}

int64_t SymbolText::vocabulary() const {
  return static_cast<int64_t>(alphabet_.size()) + (has_unknown_ ? 1 : 0);
}

void SymbolText::RequireWindow(int64_t context) const {
  const auto require = [&](std::string_view name, int64_t size) {
    if (size > context) return;
    throw DataError("the " + std::string(name) + " split has " +
                    std::to_string(size) + " characters, a context of " +
                    std::to_string(context) + " needs at least " +
                    std::to_string(context + 1));
  };
  require("training", sizes_.train);
  require("validation", sizes_.validation);
  if (sizes_.test > 0 && sizes_.test < 2) {
    throw DataError("the test split has 1 character, it needs 2, or none");
  }
}

SymbolText LoadText(const spec::Dataset& dataset) {
  if (dataset.tokenizer != "char" && dataset.tokenizer != "byte") {
    throw DataError("there is no tokenizer " + dataset.tokenizer +
                    ", there are char and byte");
  }
  const bool bytes = dataset.tokenizer == "byte";
  SymbolNumbering numbering;
  std::vector<uint16_t> byte_symbols;
  StoryEnds stories;
  const auto add = [&](std::span<const char32_t> piece) {
    stories.Add(piece);
    if (bytes) {
      byte_symbols.insert(byte_symbols.end(), piece.begin(), piece.end());
    } else {
      numbering.Add(piece);
    }
  };

  ReadCharacters(dataset.path, dataset.content_hash, bytes, add);
  SplitSizes sizes;
  if (const spec::DatasetInfo* info = FindHeldOut(dataset)) {
    StoryEnds halves;
    sizes.train = stories.size();
    const auto held_out = std::filesystem::path(dataset.path)
                              .replace_filename(info->held_out_file);
    ReadCharacters(held_out, info->held_out_hash, bytes,
                   [&](std::span<const char32_t> piece) {
                     add(piece);
                     halves.Add(piece);
                   });
    sizes.validation = FirstHalf(halves.ends(), halves.size());
    sizes.test = halves.size() - sizes.validation;
  } else {
    sizes = SplitByFractions(stories.size(), dataset.split);
  }
  if (bytes) return BytesText(std::move(byte_symbols), sizes, stories.ends());
  const double validation_bytes = static_cast<double>(
      numbering.CountUtf8Bytes(sizes.train, sizes.validation));
  auto numbered = numbering.Finish(sizes.train);
  return {std::move(numbered.symbols),
          sizes,
          std::move(numbered.alphabet),
          numbered.has_unknown,
          stories.ends(),
          sizes.validation == 0
              ? 1.0
              : validation_bytes / static_cast<double>(sizes.validation)};
}

}  // namespace leadline::dataset
