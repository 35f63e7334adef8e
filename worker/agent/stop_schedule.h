// How an attempt is ended: asked, then told, then killed.

#pragma once

#include <chrono>

namespace leadline::agent {

/// What is done to a trainer that shall end, in this order.
enum class StopStep { kNone, kOrder, kTerminate, kKill };

/// How long each step is given before the next, on a steady clock.
struct StopPatience {
  std::chrono::milliseconds after_order{5000};
  std::chrono::milliseconds after_terminate{5000};
};

/// The furthest step due when stopping began `elapsed` ago.
StopStep StepDue(std::chrono::milliseconds elapsed,
                 const StopPatience& patience);

}  // namespace leadline::agent
