// What the value of a flag may be; a value that is none is told in our words.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace leadline::flags {

/// "'pdf', expected table, markdown or csv".
CLI::Validator OneOf(std::vector<std::string> words);

/// "'x', expected a whole number from 1 to 1024".
CLI::Validator WholeNumber(int64_t least, int64_t most);

/// "'x', expected a number from 0.2 to 28800"; what is not a number at all
/// ("nan") is none.
CLI::Validator Number(double least, double most);

}  // namespace leadline::flags
