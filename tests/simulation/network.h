// What lies between nodes and coordinator: streams that keep their order, and
// break.

#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "chance.h"
#include "clockwork.h"

namespace leadline::simulation {

/// One stream, seen from both ends. Each end learns by itself that it is gone.
struct Wire {
  int64_t node = 0;
  int64_t number = 0;   // of the agent's streams
  int64_t session = 0;  // of the coordinator's
  bool agent_open = true;
  bool server_open = true;
  bool cut = false;  // nothing passes any more
  SteadyTime free_to_server{};
  SteadyTime free_to_agent{};
};

class Network {
 public:
  Network(Clockwork& clockwork, Chance& chance, int64_t nodes)
      : clockwork_(clockwork), chance_(chance), links_(nodes) {}

  enum class Trouble { kCut, kSlow, kFading, kDoubled, kSwapped };

  void Begin(Trouble trouble, int64_t node, Duration time) {
    if (trouble == Trouble::kFading && !Has(trouble, node)) {
      links_[node].fading_since = clockwork_.now();
    }
    SteadyTime& until = Until(links_[node], trouble);
    until = std::max(until, clockwork_.now() + time);
  }

  bool Has(Trouble trouble, int64_t node) {
    return clockwork_.now() < Until(links_[node], trouble);
  }

  enum class Way { kToAgent, kToServer };

  /// Carries one message: `arrive` is called where it comes out, maybe twice,
  /// or never.
  void Carry(Wire& wire, Way way, std::function<void()> arrive) {
    const int64_t node = wire.node;
    if (Has(Trouble::kCut, node)) return;
    const bool swapped = Has(Trouble::kSwapped, node) && chance_.Happens(0.2);
    SteadyTime due = clockwork_.now() + Delay(node, way);
    if (!swapped) {
      SteadyTime& free =
          way == Way::kToAgent ? wire.free_to_agent : wire.free_to_server;
      due = std::max(due, free);
      free = due;
    }
    const bool twice = Has(Trouble::kDoubled, node) && chance_.Happens(0.3);
    if (twice) {
      clockwork_.After(due - clockwork_.now() + Delay(node, way), arrive);
    }
    clockwork_.After(due - clockwork_.now(), std::move(arrive));
  }

  Duration Delay(int64_t node, Way way) {
    // One way only: else what is old here is as old there. And bit by bit: who
    // hears nothing for long hangs up, and nothing old arrives.
    if (way == Way::kToAgent && Has(Trouble::kFading, node)) {
      const Duration since = clockwork_.now() - links_[node].fading_since;
      return std::min<Duration>(since * 3 / 4, std::chrono::seconds(45));
    }
    return Seconds(Has(Trouble::kSlow, node) ? chance_.Between(0.1, 5)
                                             : chance_.Between(0.001, 0.03));
  }

 private:
  struct Link {
    SteadyTime cut_until{};
    SteadyTime slow_until{};
    SteadyTime fading_until{};
    SteadyTime fading_since{};
    SteadyTime doubled_until{};
    SteadyTime swapped_until{};
  };

  static SteadyTime& Until(Link& link, Trouble trouble) {
    switch (trouble) {
      case Trouble::kCut:
        return link.cut_until;
      case Trouble::kSlow:
        return link.slow_until;
      case Trouble::kFading:
        return link.fading_until;
      case Trouble::kDoubled:
        return link.doubled_until;
      case Trouble::kSwapped:
        break;
    }
    return link.swapped_until;
  }

  Clockwork& clockwork_;
  Chance& chance_;
  std::vector<Link> links_;
};

}  // namespace leadline::simulation
