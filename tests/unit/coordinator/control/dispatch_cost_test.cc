// What a dispatch costs, counted in allocations and in cohorts looked at: the
// machine's speed is none of it.

#include <atomic>
#include <cstdlib>
#include <deque>
#include <new>
#include <utility>

#include <gtest/gtest.h>

#include "control_world.h"

namespace {

std::atomic<int64_t> allocations{0};

}  // namespace

// Not inlined, or the compiler takes the pair for one that does not match.
[[gnu::noinline]] void* operator new(size_t size) {
  ++allocations;
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace leadline::control {
namespace {

constexpr int64_t kAgents = 64;
constexpr int64_t kSeeds = 400;

/// A sweep of so many cells of 400 trials, of which all but the first cell's
/// have ended, and 64 agents that each train one.
class Running {
 public:
  explicit Running(int64_t cells) {
    world_.Submit(MakeSweep(cells, kSeeds, 1));
    for (int64_t cell = 2; cell <= cells; ++cell) {
      world_.Do(
          CancelTarget{CellId{{1}, cell}, "r" + std::to_string(cell), {}});
    }
    for (int64_t agent = 1; agent <= kAgents; ++agent) {
      Take(world_.Register(agent, "n" + std::to_string(agent), 1));
    }
  }

  int64_t live() const { return std::ssize(live_); }

  /// Ends the oldest attempt; the next one takes its place. Allocations of the
  /// whole step.
  int64_t Next() {
    const auto [session, key] = live_.front();
    live_.erase(live_.begin());
    world_.Send(session, key, {ResultOf(1, 0, key.cohort.number, 1.0)});
    const int64_t before = allocations;
    const Outcome outcome =
        world_.Do(AttemptEnded{{session}, key, 1, 0, 0, std::nullopt, ""});
    const int64_t cost = allocations - before;
    Take(outcome);
    return cost;
  }

  int64_t TickCost() {
    const int64_t before = allocations;
    world_.Do(Tick{});
    return allocations - before;
  }

  int64_t LookedAtInATick() {
    const int64_t before = world_.control().state().looked_at;
    world_.Do(Tick{});
    return world_.control().state().looked_at - before;
  }

 private:
  void Take(const Outcome& outcome) {
    for (const AgentOrder& order : outcome.orders) {
      if (const auto* start = std::get_if<StartOrder>(&order.order)) {
        live_.emplace_back(order.session.value, start->attempt);
      }
    }
  }

  World world_;
  std::vector<std::pair<int64_t, AttemptKey>> live_;
};

TEST(DispatchCost, DoesNotGrowWithTheTrialsThatHaveEnded) {
  Running few(1);
  Running many(25);  // 10,000 trials
  ASSERT_EQ(few.live(), kAgents);
  ASSERT_EQ(many.live(), kAgents);
  int64_t few_cost = 0;
  int64_t many_cost = 0;
  for (int i = 0; i < 50; ++i) {
    few_cost += few.Next();
    many_cost += many.Next();
    EXPECT_EQ(few.live(), kAgents) << "one is dispatched for each that ends";
    EXPECT_EQ(many.live(), kAgents);
  }
  EXPECT_LE(many_cost, few_cost + few_cost / 20);
  EXPECT_LE(many.TickCost(), few.TickCost() + 10);
  EXPECT_LE(many.LookedAtInATick(), few.LookedAtInATick());
}

/// What an end costs on average, and a tick, while so many trials wait.
struct Cost {
  double allocations = 0;
  double looked_at = 0;
  int64_t tick_allocations = 0;
  int64_t tick_looks_at = 0;
};

/// A third of the waiting cohorts ask for two slots, which no node has free.
Cost CostWith(int64_t waiting) {
  World world;
  NewSweep sweep = MakeSweep(waiting, 1, 1);
  for (size_t cell = 0; cell < sweep.cells.size(); cell += 3) {
    sweep.cells[cell].record.settings_json = R"({"devices":1,"threads":2})";
  }
  world.Submit(std::move(sweep));
  std::deque<std::pair<int64_t, AttemptKey>> live;
  const auto take = [&](const Outcome& outcome) {
    for (const AgentOrder& order : outcome.orders) {
      if (const auto* start = std::get_if<StartOrder>(&order.order)) {
        live.emplace_back(order.session.value, start->attempt);
      }
    }
  };
  for (int64_t agent = 1; agent <= kAgents; ++agent) {
    take(world.Register(agent, "n" + std::to_string(agent), 1));
  }
  constexpr int kEnds = 20;
  const State& state = world.control().state();
  Cost cost;
  for (int i = 0; i < kEnds; ++i) {
    const auto [session, key] = live.front();
    live.pop_front();
    world.Send(session, key, {ResultOf(1, 0, 0, 1.0)});
    const int64_t allocated = allocations;
    const int64_t looked_at = state.looked_at;
    const Outcome outcome =
        world.Do(AttemptEnded{{session}, key, 1, 0, 0, std::nullopt, ""});
    cost.allocations += static_cast<double>(allocations - allocated) / kEnds;
    cost.looked_at += static_cast<double>(state.looked_at - looked_at) / kEnds;
    take(outcome);
  }
  EXPECT_EQ(live.size(), kAgents) << "one is dispatched for each that ends";
  const int64_t allocated = allocations;
  const int64_t looked_at = state.looked_at;
  world.Do(Tick{});
  cost.tick_allocations = allocations - allocated;
  cost.tick_looks_at = state.looked_at - looked_at;
  return cost;
}

TEST(DispatchCost, DoesNotGrowWithTheTrialsThatWait) {
  const Cost few = CostWith(300);
  const Cost many = CostWith(6000);
  EXPECT_LE(many.looked_at, few.looked_at);
  EXPECT_LT(few.looked_at, 20) << "lines, the one that starts, the one that "
                                  "ended";
  EXPECT_LE(many.allocations, few.allocations * 1.05);
  EXPECT_LE(many.tick_looks_at, few.tick_looks_at);
  EXPECT_LE(many.tick_allocations, few.tick_allocations + 10);
}

TEST(DispatchCost, OfTenThousandWaitingTrialsSixtyFourStartInOneStepEach) {
  World world;
  world.Submit(MakeSweep(10'000, 1, 1));
  for (int64_t agent = 1; agent <= kAgents; ++agent) {
    const Outcome outcome =
        world.Register(agent, "n" + std::to_string(agent), 1);
    EXPECT_EQ(Orders<StartOrder>(outcome).size(), 1U);
  }
}

}  // namespace
}  // namespace leadline::control
