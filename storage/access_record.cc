#include <charconv>

#include "storage/access_store.h"

namespace leadline::storage {

std::string TokenText(int64_t id) { return "t" + std::to_string(id); }

std::optional<int64_t> ParseTokenText(const std::string& text) {
  int64_t id = 0;
  if (text.size() < 2 || text[0] != 't' || text[1] == '0') return std::nullopt;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data() + 1, end, id);
  if (error != std::errc() || at != end || id < 1) return std::nullopt;
  return id;
}

}  // namespace leadline::storage
