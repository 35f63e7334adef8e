// Turns Wikipedia XML, or any English text, into the 27 symbols of text8: a to
// z and space. docs/data.md has the rules. Bytes in, bytes out, in linear time.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace leadline {

/// Letters, spaces and digits by name; all else parts words. Every text begins
/// with a space and ends without one.
class PlainTextFilter {
 public:
  /// Appends to `out` what `text`, the next piece, comes to.
  void Add(std::string_view text, std::string& out);

  /// What follows is a text of its own.
  void Begin() { parted_ = true; }

 private:
  void Word(std::string_view letters, std::string& out);

  bool parted_ = true;  // a space is due before the next letter
};

/// What is written of one record of Wikipedia XML, markup removed, before it
/// becomes plain.
std::string WithoutMarkup(std::string_view record);

/// The whole filter. A record ends with the next '>', and only those from
/// `<text ` to `</text>` are written, no redirects.
class Text8Filter {
 public:
  /// A text without '>' is no Wikipedia XML, and a record is held as a whole.
  static constexpr size_t kMostRecordBytes = size_t{256} << 20U;

  explicit Text8Filter(size_t most_record_bytes = kMostRecordBytes)
      : most_record_bytes_(most_record_bytes) {}

  /// Appends to `out` what `bytes`, the next piece, comes to. False, once and
  /// for all, if a record is longer than that.
  bool Add(std::string_view bytes, std::string& out);

  /// The input has ended.
  void Finish(std::string& out);

 private:
  void TakeRecord(std::string& out);

  size_t most_record_bytes_;
  PlainTextFilter plain_;
  std::string record_;  // what came of it
  bool in_text_ = false;
};

}  // namespace leadline
