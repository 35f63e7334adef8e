// What stands in for a stream of a device: a thread that does in order what it
// is given.

#pragma once

#include <functional>

namespace leadline::test {

class HostStream {
 public:
  virtual ~HostStream() = default;
  virtual void Enqueue(std::function<void()> work) = 0;
};

}  // namespace leadline::test
