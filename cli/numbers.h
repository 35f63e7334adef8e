// Numbers as people read them.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/terminal.h"

namespace leadline::cli {

/// Decimals that show two significant digits of a standard deviation, from 2
/// to 6; 4 where there is none.
int DecimalsFor(std::optional<double> sd);

/// A mean over seeds in its parts, so that a column can align them.
struct MeanText {
  std::string mean;   // "1.2345", empty if nothing succeeded
  std::string sd;     // "0.0012", with as many decimals; empty if there is none
  std::string count;  // "(5)", or "(3/5)" where fewer than planned succeeded
};

/// A standard deviation that would round to zero without being it is written
/// as a bound, "<0.0001".
MeanText MeanAndSd(std::optional<double> mean, std::optional<double> sd,
                   int64_t n, int64_t planned, int decimals);

/// "1.2345 ± 0.0012 (5)", its parts as wide as the widest of `column`.
std::string Aligned(const MeanText& text, const std::vector<MeanText>& column,
                    const Style& style);

/// "8 s", "3 min 05 s", "2 h 07 min", "4 d 3 h".
std::string HumanDuration(double seconds);

/// With thousands apart: "1,234,567".
std::string Grouped(int64_t value);

/// "3 trials", "1 trial", "0 trials".
std::string Counted(int64_t value, const std::string& noun);

}  // namespace leadline::cli
