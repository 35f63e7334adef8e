// What is thrown when data is missing, malformed or not what its hash says.

#pragma once

#include <stdexcept>

namespace leadline::dataset {

/// Ends an attempt with failure kind `data`. The message says which file, and
/// what the reader can do.
class DataError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace leadline::dataset
