// Numbers for people: three significant digits and what they count.

#pragma once

#include <cstdint>
#include <string>

namespace leadline {

/// "12.6M", "950", "1.20B".
std::string HumanCount(double value);

/// "3.41 PFLOP".
std::string HumanFlops(double flops);

/// "1.50 GiB", "812 B".
std::string HumanBytes(int64_t bytes);

}  // namespace leadline
