#include "worker/dataset/utf8_decoder.h"

#include <string>

#include "worker/dataset/data_error.h"

namespace leadline::dataset {

void Utf8Decoder::Refuse() const {
  throw DataError("not UTF-8: byte offset " + std::to_string(offset_));
}

void Utf8Decoder::Add(std::string_view bytes,
                      std::vector<char32_t>& code_points) {
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    if (missing_ == 0) {
      if (value < 0x80) {
        code_points.push_back(value);
      } else if (value >= 0xC2 && value <= 0xDF) {
        partial_ = value & 0x1FU, missing_ = 1, least_ = 0x80;
      } else if ((value & 0xF0U) == 0xE0) {
        partial_ = value & 0x0FU, missing_ = 2, least_ = 0x800;
      } else if (value >= 0xF0 && value <= 0xF4) {
        partial_ = value & 0x07U, missing_ = 3, least_ = 0x10000;
      } else {
        Refuse();
      }
    } else {
      if ((value & 0xC0U) != 0x80) Refuse();
      partial_ = (partial_ << 6U) | (value & 0x3FU);
      if (--missing_ == 0) {
        const bool surrogate = partial_ >= 0xD800 && partial_ <= 0xDFFF;
        if (partial_ < least_ || partial_ > 0x10FFFF || surrogate) Refuse();
        code_points.push_back(partial_);
      }
    }
    ++offset_;
  }
}

void Utf8Decoder::Finish() const {
  if (missing_ != 0) {
    throw DataError("not UTF-8: the text ends inside a character");
  }
}

}  // namespace leadline::dataset
