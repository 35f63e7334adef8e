// What is thrown of a checkpoint that cannot be used.

#pragma once

#include <stdexcept>

namespace leadline::checkpoint {

/// The message names the file and what is wrong with it.
class BadCheckpoint : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace leadline::checkpoint
