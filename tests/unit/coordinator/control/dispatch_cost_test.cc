// What a dispatch costs, counted in allocations: the machine's speed is none of
// it.

#include <atomic>
#include <cstdlib>
#include <new>

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
