// A metrics page taken apart.

#pragma once

#include <map>
#include <sstream>
#include <string>

namespace leadline::metrics {

/// By series, as they are written: `leadline_trials{state="queued"}`.
inline std::map<std::string, double> SeriesOf(const std::string& page) {
  std::map<std::string, double> series;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t space = line.rfind(' ');
    series[line.substr(0, space)] = std::stod(line.substr(space + 1));
  }
  return series;
}

/// The sum over all series of that name.
inline double SumOf(const std::map<std::string, double>& series,
                    const std::string& name) {
  double sum = 0;
  for (const auto& [key, value] : series) {
    if (key.starts_with(name + "{")) sum += value;
  }
  return sum;
}

}  // namespace leadline::metrics
