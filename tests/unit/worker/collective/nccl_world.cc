#include "tests/unit/worker/collective/nccl_world.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <stdexcept>

#include <dlfcn.h>

#include "tests/support/paths.h"

namespace leadline::collective::nccl {

std::string FakeLibrary() {
  return (test::BuildDir() / "tests" / "libfake_nccl.so").string();
}

std::string PartialLibrary() {
  return (test::BuildDir() / "tests" / "libpartial_nccl.so").string();
}

test::FakeNccl& Fake() {
  void* const library = dlopen(FakeLibrary().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  const auto function =
      reinterpret_cast<test::FakeNcclFunction>(dlsym(library, "fake_nccl"));
  if (function == nullptr) throw std::runtime_error(dlerror());
  return *function();
}

namespace {

struct DeviceMemory {
  std::mutex mutex;
  std::deque<std::vector<std::byte>> parts;
};

DeviceMemory& Memory() {
  static DeviceMemory memory;
  return memory;
}

void FreeDeviceMemory() {
  const std::lock_guard lock(Memory().mutex);
  Memory().parts.clear();
}

}  // namespace

std::byte* AllocateOnDevice(size_t bytes) {
  const std::lock_guard lock(Memory().mutex);
  return Memory().parts.emplace_back(bytes + 1).data();
}

std::vector<std::string> KindsOnAllRanks(
    int64_t size, const std::function<void(int64_t rank)>& act) {
  return OnAllRanks(static_cast<size_t>(size), [&](int64_t rank) {
    try {
      act(rank);
    } catch (const SetUpError& error) {
      throw std::runtime_error(std::string("SetUpError: ") + error.what());
    } catch (const OperationError& error) {
      throw std::runtime_error(std::string("OperationError: ") + error.what());
    }
  });
}

NcclWorld::NcclWorld(int64_t size)
    : options_(static_cast<size_t>(size)),
      rings_(static_cast<size_t>(size)),
      cliques_(static_cast<size_t>(size)) {
  Fake().Reset();
  for (int64_t rank = 0; rank < size; ++rank) {
    CliqueOptions& options = options_[static_cast<size_t>(rank)];
    options.rank = rank;
    options.size = size;
    options.look_period = std::chrono::milliseconds(5);
    options.farewell_limit = std::chrono::milliseconds(20'000);
    queues_.push_back(std::make_shared<test::HostQueue>());
  }
}

NcclWorld::~NcclWorld() {
  // Ranks part together, or wait for each other.
  DropAll();
  Fake().Reset();
  // What was left to itself ends now.
  Fake().AwaitNoneLiving();
  FreeDeviceMemory();
}

void NcclWorld::DropAll() {
  OnAllRanks(cliques_.size(), [&](int64_t rank) { Drop(rank); });
}

void NcclWorld::SetLimit(std::chrono::milliseconds limit) {
  for (CliqueOptions& options : options_) options.limit = limit;
}

void NcclWorld::SetSetUpLimit(std::chrono::milliseconds limit) {
  for (CliqueOptions& options : options_) options.set_up_limit = limit;
}

void NcclWorld::Join(const std::vector<int64_t>& absent) {
  rings_ = LinkedRings(size());
  errors_ = KindsOnAllRanks(size(), [&](int64_t rank) {
    if (std::ranges::count(absent, rank) > 0) return;
    cliques_[rank] =
        JoinClique(*rings_[rank], FakeLibrary(), queues_[rank], options_[rank]);
  });
}

}  // namespace leadline::collective::nccl
