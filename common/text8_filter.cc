#include "common/text8_filter.h"

#include <array>

namespace leadline {
namespace {

constexpr size_t kNone = std::string_view::npos;

char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// True if `text` goes on with `word`, which is in lower case, at `at`.
bool HasAt(std::string_view text, size_t at, std::string_view word,
           bool any_case = false) {
  if (text.size() - at < word.size()) return false;
  for (size_t i = 0; i < word.size(); ++i) {
    const char c = text[at + i];
    if ((any_case ? Lower(c) : c) != word[i]) return false;
  }
  return true;
}

bool Contains(std::string_view text, std::string_view word, bool any_case) {
  if (!any_case) return text.find(word) != kNone;
  for (size_t at = text.find(word[0]); at != kNone;
       at = text.find(word[0], at + 1)) {
    if (HasAt(text, at, word, true)) return true;
  }
  return false;
}

// Where the next of some characters stands. Asked for places in ascending
// order, it reads the text once, however often it is asked.
class Next {
 public:
  Next(std::string_view text, std::string_view characters)
      : text_(text), characters_(characters) {}

  /// kNone if there is none at `from` or after.
  size_t At(size_t from) {
    if (found_ != kNone && found_ < from) is_known_ = false;
    if (!is_known_) found_ = text_.find_first_of(characters_, from);
    is_known_ = true;
    return found_;
  }

 private:
  std::string_view text_;
  std::string_view characters_;
  size_t found_ = 0;
  bool is_known_ = false;
};

// A match ends at `end`, and `replacement` comes in its place.
struct Match {
  size_t end = kNone;
  std::string_view replacement{};
};

// Replaces matches from left to right: `match` looks at each place where
// `first` stands and gives an end, or kNone.
template <typename Find>
void ReplaceAll(std::string& text, char first, Find match) {
  std::string result;
  size_t kept = 0;
  size_t at = text.find(first);
  while (at != kNone) {
    const Match found = match(std::string_view(text), at);
    if (found.end == kNone) {
      at = text.find(first, at + 1);
      continue;
    }
    result.append(text, kept, at - kept).append(found.replacement);
    kept = found.end;
    at = text.find(first, kept);
  }
  if (kept == 0) return;
  text = result.append(text, kept);
}

void ReplaceWord(std::string& text, std::string_view word,
                 std::string_view replacement, bool any_case = false) {
  ReplaceAll(text, word[0], [&](std::string_view all, size_t at) {
    return HasAt(all, at, word, any_case) ? Match{at + word.size(), replacement}
                                          : Match{};
  });
}

// From the first '<' to the last '>' of its line. In a record '>' stands at the
// end or nowhere.
void RemoveTag(std::string& text) {
  if (!text.ends_with('>')) return;
  const size_t line = text.rfind('\n');
  const size_t begin = text.find('<', line == kNone ? 0 : line + 1);
  if (begin != kNone) text.erase(begin);
}

void RemoveReferences(std::string& text) {
  Next tag(text, "<");
  ReplaceAll(text, '<', [&](std::string_view all, size_t at) {
    constexpr std::string_view kEnd = "</ref>";
    if (!HasAt(all, at, "<ref")) return Match{};
    const size_t end = tag.At(at + 1);
    const bool closes = end != kNone && HasAt(all, end, kEnd);
    return closes ? Match{end + kEnd.size()} : Match{};
  });
}

// `open`, characters other than `close`'s first, `close`.
void RemoveEnclosed(std::string& text, std::string_view open,
                    std::string_view close, std::string_view replacement = {}) {
  Next end(text, close.substr(0, 1));
  ReplaceAll(text, open[0], [&](std::string_view all, size_t at) {
    if (!HasAt(all, at, open)) return Match{};
    const size_t found = end.At(at + open.size());
    const bool closes = found != kNone && HasAt(all, found, close);
    return closes ? Match{found + close.size(), replacement} : Match{};
  });
}

void RemoveUrls(std::string& text) {
  Next end(text, " ]");
  ReplaceAll(text, '[', [&](std::string_view all, size_t at) {
    constexpr std::string_view kOpen = "[http:";
    if (!HasAt(all, at, kOpen)) return Match{};
    const size_t found = end.At(at + kOpen.size());
    return Match{found == kNone ? all.size() : found, "["};
  });
}

void RemovePixels(std::string& text) {
  ReplaceAll(text, '|', [](std::string_view all, size_t at) {
    size_t end = at + 1;
    while (end < all.size() && IsDigit(all[end])) ++end;
    const bool is_width = end > at + 1 && HasAt(all, end, "px", true);
    return is_width ? Match{end + 2} : Match{};
  });
}

// Up to and including the last '|' before any bracket.
void RemoveImages(std::string& text) {
  Next bracket(text, "[]");
  ReplaceAll(text, '[', [&](std::string_view all, size_t at) {
    constexpr std::string_view kOpen = "[[image:";
    if (!HasAt(all, at, kOpen, true)) return Match{};
    const size_t from = at + kOpen.size();
    const size_t end = bracket.At(from);
    const size_t bar = all.substr(from, end - from).rfind('|');
    return bar == kNone ? Match{} : Match{from + bar + 1};
  });
}

void KeepNamesOfCategories(std::string& text) {
  Next close(text, "]");
  std::string name;
  ReplaceAll(text, '[', [&](std::string_view all, size_t at) {
    constexpr std::string_view kOpen = "[[category:";
    if (!HasAt(all, at, kOpen, true)) return Match{};
    const size_t from = at + kOpen.size();
    const size_t end = close.At(from);
    if (end == kNone || !HasAt(all, end, "]]")) return Match{};
    const std::string_view inside = all.substr(from, end - from);
    name = "[[" + std::string(inside.substr(0, inside.find('|'))) + "]]";
    return Match{end + 2, name};
  });
}

void RemoveOtherLanguages(std::string& text) {
  Next close(text, "]");
  ReplaceAll(text, '[', [&](std::string_view all, size_t at) {
    if (!HasAt(all, at, "[[")) return Match{};
    size_t colon = at + 2;
    while (colon < all.size() &&
           ((all[colon] >= 'a' && all[colon] <= 'z') || all[colon] == '-')) {
      ++colon;
    }
    if (colon == all.size() || all[colon] != ':') return Match{};
    const size_t end = close.At(colon + 1);
    return end != kNone && HasAt(all, end, "]]") ? Match{end + 2} : Match{};
  });
}

void KeepTextsOfLinks(std::string& text) {
  Next end(text, "|]");
  ReplaceAll(text, '[', [&](std::string_view all, size_t at) {
    if (!HasAt(all, at, "[[")) return Match{};
    const size_t found = end.At(at + 2);
    const bool is_bar = found != kNone && all[found] == '|';
    return is_bar ? Match{found + 1, "[["} : Match{};
  });
}

std::string_view NameOf(char digit) {
  constexpr std::array<std::string_view, 10> kNames = {
      "zero", "one", "two",   "three", "four",
      "five", "six", "seven", "eight", "nine"};
  return kNames[static_cast<size_t>(digit - '0')];
}

}  // namespace

void PlainTextFilter::Word(std::string_view letters, std::string& out) {
  if (parted_) out += ' ';
  parted_ = false;
  out += letters;
}

void PlainTextFilter::Add(std::string_view text, std::string& out) {
  for (const char c : text) {
    const char lower = Lower(c);
    if (lower >= 'a' && lower <= 'z') {
      Word({&lower, 1}, out);
    } else {
      parted_ = true;
      if (!IsDigit(c)) continue;
      Word(NameOf(c), out);
      parted_ = true;
    }
  }
}

std::string WithoutMarkup(std::string_view record) {
  std::string text(record);
  RemoveTag(text);
  ReplaceWord(text, "&amp;", "&");
  ReplaceWord(text, "&lt;", "<");
  ReplaceWord(text, "&gt;", ">");
  RemoveReferences(text);
  RemoveEnclosed(text, "<", ">");
  RemoveUrls(text);
  for (const char* word : {"|thumb", "|left", "|right"}) {
    ReplaceWord(text, word, "", true);
  }
  RemovePixels(text);
  RemoveImages(text);
  KeepNamesOfCategories(text);
  RemoveOtherLanguages(text);
  KeepTextsOfLinks(text);
  RemoveEnclosed(text, "{{", "}}");
  RemoveEnclosed(text, "{", "}");
  std::erase_if(text, [](char c) { return c == '[' || c == ']'; });
  RemoveEnclosed(text, "&", ";", " ");
  return text;
}

bool Text8Filter::Add(std::string_view bytes, std::string& out) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('>');
    const size_t size = end == kNone ? bytes.size() : end + 1;
    if (record_.size() + size > most_record_bytes_) return false;
    record_ += bytes.substr(0, size);
    bytes.remove_prefix(size);
    if (end != kNone) TakeRecord(out);
  }
  return true;
}

void Text8Filter::Finish(std::string& out) {
  if (!record_.empty()) TakeRecord(out);
}

void Text8Filter::TakeRecord(std::string& out) {
  if (Contains(record_, "<text ", false)) in_text_ = true;
  if (Contains(record_, "#redirect", true)) in_text_ = false;
  if (in_text_) {
    in_text_ = !Contains(record_, "</text>", false);
    plain_.Begin();
    plain_.Add(WithoutMarkup(record_), out);
  }
  record_.clear();
}

}  // namespace leadline
