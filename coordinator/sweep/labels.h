// How methods, data sets and values are called in tables.

#pragma once

#include <string>
#include <vector>

#include "coordinator/sweep/cell_settings.h"
#include "coordinator/sweep/sweep.h"

namespace leadline::sweep {

/// A value as people write it: "2" for 2.0, "1e-4".
std::string LabelText(const spec::Value& value);

/// The names of one sweep's methods and data sets. Refers to the sweep.
class Labels {
 public:
  explicit Labels(const Sweep& sweep);

  /// The method's name, and those options in which the methods of the sweep
  /// differ: "wav(rho=2)". `settings` are the cell's, resolved.
  std::string Method(const GivenCell& cell,
                     const spec::Settings& settings) const;

  /// The registered name, or the file's stem; numbered where data sets of the
  /// sweep share one.
  std::string Dataset(const GivenCell& cell) const;

  /// Axis and label, in the order of the axes. Options that the cell's method
  /// does not have are left out.
  std::vector<std::pair<std::string, std::string>> Axes(
      const GivenCell& cell, const spec::Settings& settings) const;

 private:
  const Sweep& sweep_;
  std::map<std::string, std::vector<std::string>, std::less<>>
      options_;  // shown, by method
};

}  // namespace leadline::sweep
