// Ranks of one process whose devices are joined by the stand-in for NCCL.

#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/fakes/nccl/fake_nccl.h"
#include "tests/fakes/nccl/host_queue.h"
#include "tests/unit/worker/collective/ring_world.h"
#include "worker/collective/nccl/clique.h"

namespace leadline::collective::nccl {

/// The stand-in, as the ranks open it, without faults.
test::FakeNccl& Fake();
std::string FakeLibrary();
std::string PartialLibrary();

/// Limits are long unless a test changes them: time is no part of most.
class NcclWorld {
 public:
  explicit NcclWorld(int64_t size = 2);
  ~NcclWorld();

  CliqueOptions& options(int64_t rank) { return options_[rank]; }
  void SetLimit(std::chrono::milliseconds limit);
  void SetSetUpLimit(std::chrono::milliseconds limit);

  /// Lets all join but those of `absent`; errors() says what each threw, as
  /// KindsOnAllRanks does.
  void Join(const std::vector<int64_t>& absent = {});
  const std::vector<std::string>& errors() const { return errors_; }

  int64_t size() const { return static_cast<int64_t>(options_.size()); }
  Ring& ring(int64_t rank) { return *rings_[rank]; }
  void LoseRing(int64_t rank) { rings_[rank].reset(); }
  Clique& clique(int64_t rank) { return *cliques_[rank]; }
  test::HostQueue& queue(int64_t rank) { return *queues_[rank]; }
  /// Waits as the destructor of that rank's clique does.
  void Drop(int64_t rank) { cliques_[rank].reset(); }
  void DropAll();

 private:
  std::vector<CliqueOptions> options_;
  std::vector<std::shared_ptr<test::HostQueue>> queues_;
  std::vector<std::unique_ptr<Ring>> rings_;
  std::vector<std::unique_ptr<Clique>> cliques_;
  std::vector<std::string> errors_;
};

/// Calls `act` for each rank at once, and returns what each threw with its kind
/// before it, "SetUpError: ...", or "".
std::vector<std::string> KindsOnAllRanks(
    int64_t size, const std::function<void(int64_t rank)>& act);

/// Lives until the end of an NcclWorld: what fails may still be worked on until
/// it was aborted.
std::byte* AllocateOnDevice(size_t bytes);

/// The sum of `values` over the ranks, begun and waited for.
template <typename Number>
void Sum(Clique& clique, std::vector<Number>& values, int64_t step = 1) {
  const Element element = std::is_same_v<Number, float>    ? Element::kFloat32
                          : std::is_same_v<Number, double> ? Element::kFloat64
                                                           : Element::kInt64;
  const size_t bytes = values.size() * sizeof(Number);
  std::byte* const on_device = AllocateOnDevice(bytes);
  if (bytes > 0) std::memcpy(on_device, values.data(), bytes);
  clique.Wait(clique.Start({.task = Task::kSum,
                            .element = element,
                            .step = step,
                            .values = on_device,
                            .count = values.size()}));
  if (bytes > 0) std::memcpy(values.data(), on_device, bytes);
}

}  // namespace leadline::collective::nccl
