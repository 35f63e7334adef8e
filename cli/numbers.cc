#include "cli/numbers.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "cli/text.h"

namespace leadline::cli {
namespace {

// Three significant digits, as few decimals as that takes.
}  // namespace

int DecimalsFor(std::optional<double> sd) {
  if (!sd.has_value() || !std::isfinite(*sd) || *sd <= 0) return 4;
  // 0.0996 is 0.10 with two digits: the exponent is that of the rounded value.
  const std::string rounded = fmt::format("{:.1e}", *sd);
  const int exponent = std::stoi(rounded.substr(rounded.find('e') + 1));
  return std::clamp(1 - exponent, 2, 6);
}

MeanText MeanAndSd(std::optional<double> mean, std::optional<double> sd,
                   int64_t n, int64_t planned, int decimals) {
  MeanText text;
  text.count = n == planned ? fmt::format("({})", n)
                            : fmt::format("({}/{})", n, planned);
  if (!mean.has_value()) return text;
  text.mean = fmt::format("{:.{}f}", *mean, decimals);
  if (!sd.has_value()) return text;
  const double last_place = std::pow(10.0, -decimals);
  const bool vanishes = *sd > 0 && *sd < 0.5 * last_place;
  text.sd = fmt::format("{}{:.{}f}", vanishes ? "<" : "",
                        vanishes ? last_place : *sd, decimals);
  return text;
}

std::string Aligned(const MeanText& text, const std::vector<MeanText>& column,
                    const Style& style) {
  size_t mean_width = 0;
  size_t sd_width = 0;
  for (const MeanText& one : column) {
    mean_width = std::max(mean_width, std::max<size_t>(one.mean.size(), 1));
    sd_width = std::max(sd_width, one.sd.size());
  }
  std::string out =
      PadLeft(text.mean.empty() ? style.nothing() : text.mean, mean_width);
  const std::string sign = fmt::format(" {} ", style.plus_minus());
  if (!text.sd.empty()) {
    out += sign + PadLeft(text.sd, sd_width);
  } else if (sd_width > 0) {
    out += std::string(DisplayWidth(sign) + sd_width, ' ');
  }
  return out + " " + text.count;
}

std::string HumanDuration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "?";
  const auto whole = static_cast<int64_t>(std::min(seconds + 0.5, 1e15));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) {
    return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  }
  if (whole < 86400) {
    return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
  }
  return fmt::format("{} d {} h", whole / 86400, whole % 86400 / 3600);
}

std::string Grouped(int64_t value) {
  std::string digits = std::to_string(value);
  const size_t first = digits[0] == '-' ? 1 : 0;
  for (size_t i = digits.size(); i > first + 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

std::string Counted(int64_t value, const std::string& noun) {
  return fmt::format("{} {}{}", Grouped(value), noun, value == 1 ? "" : "s");
}

}  // namespace leadline::cli
