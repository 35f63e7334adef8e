// What a trainer's last record says of the exception that ended it.

#pragma once

#include <exception>
#include <stdexcept>
#include <string>

#include "common/experiment.h"
#include "worker/trainer/events.h"

namespace leadline::trainer {

/// A failure whose kind is known where it happens.
class Failure : public std::runtime_error {
 public:
  Failure(FailureKind kind, const std::string& message)
      : std::runtime_error(message), kind_(kind) {}
  FailureKind kind() const { return kind_; }

 private:
  FailureKind kind_;
};

/// `error` must hold an exception.
EndEvent DescribeEnd(const std::exception_ptr& error);

}  // namespace leadline::trainer
