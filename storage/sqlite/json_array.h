// JSON arrays of numbers and of words, as they stand in a column. Doubles read
// back bit for bit; non-finite ones are the words "nan", "inf", "-inf".

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

namespace leadline::storage::sqlite {

std::string NumbersToJson(std::span<const double> numbers);
std::string WordsToJson(std::span<const std::string> words);

/// DataLoss unless it is what the functions above write.
absl::StatusOr<std::vector<double>> NumbersFromJson(std::string_view text);
absl::StatusOr<std::vector<std::string>> WordsFromJson(std::string_view text);

}  // namespace leadline::storage::sqlite
