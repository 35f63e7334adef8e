// How the exchange between ranks fails.

#pragma once

#include <stdexcept>

namespace leadline::collective {

/// The ranks of an attempt did not find each other, or do not belong together.
class SetUpError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An operation between ranks did not come to its end; there is no going on.
class OperationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace leadline::collective
