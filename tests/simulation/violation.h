// How whoever judges says what is wrong.

#pragma once

#include <stdexcept>

namespace leadline::simulation {

/// A property that does not hold; says which, and of what.
class Violation : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace leadline::simulation
