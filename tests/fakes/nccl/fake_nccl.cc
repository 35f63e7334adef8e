// The functions of NCCL that ranks use. Where its header is found, abi_check.cc
// holds the declarations of abi.h, which these are made after, against it.

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "tests/fakes/nccl/fake_faults.h"
#include "tests/fakes/nccl/fake_world.h"
#include "tests/fakes/nccl/host_stream.h"
#include "worker/collective/nccl/abi.h"

namespace leadline::collective::nccl {

// What a handle points to.
struct OpaqueCommunicator {
  int rank = 0;
  std::shared_ptr<test::FakeWorld> world;
  std::mutex mutex;
  // All below is guarded by mutex.
  int operations = 0;
  int queries_in_progress = 0;    // -1: for ever
  std::function<void()> delayed;  // done once nothing is in progress
  bool joins = true;              // until all are in
  bool parts = false;             // until all have left
};

}  // namespace leadline::collective::nccl

namespace leadline::test {
namespace {

using collective::nccl::Config;
using collective::nccl::DataType;
using collective::nccl::Handle;
using collective::nccl::Reduction;
using collective::nccl::Result;
using collective::nccl::Stream;
using collective::nccl::UniqueId;

constexpr unsigned int kMagic = 0xcafebeef;

std::mutex worlds_mutex;
// By what the id says.
std::map<std::string, std::shared_ptr<FakeWorld>>& Worlds() {
  static std::map<std::string, std::shared_ptr<FakeWorld>> worlds;
  return worlds;
}

std::shared_ptr<FakeWorld> WorldOf(const UniqueId& id, int size) {
  const std::lock_guard lock(worlds_mutex);
  auto& world = Worlds()[std::string(id.bytes.data(), id.bytes.size())];
  if (!world) world = std::make_shared<FakeWorld>(size);
  return world;
}

bool IsSound(const Config* config) {
  return config != nullptr && config->magic == kMagic &&
         config->size >= sizeof(Config) && config->version >= 21400 &&
         config->blocking == 0;
}

std::optional<Result> OnCall(const char* function, int rank) {
  const auto result = Faults().OnCall(function, rank);
  if (!result) return std::nullopt;
  return static_cast<Result>(*result);
}

// What the handle says of what is in progress.
Result StateOf(Handle handle) {
  const std::lock_guard lock(handle->mutex);
  if (const auto fault =
          Faults().AsyncFault(handle->rank, handle->operations)) {
    return static_cast<Result>(*fault);
  }
  if (handle->queries_in_progress < 0) return Result::kInProgress;
  if (handle->queries_in_progress > 0) {
    --handle->queries_in_progress;
    return Result::kInProgress;
  }
  if (handle->delayed) {
    handle->delayed();
    handle->delayed = nullptr;
  }
  if (handle->joins && !handle->world->AllAreIn()) return Result::kInProgress;
  handle->joins = false;
  if (handle->parts && !handle->world->AllHaveLeft()) {
    return Result::kInProgress;
  }
  return Result::kSuccess;
}

Result Enqueue(const char* function, Handle handle, Stream stream,
               const FakeWorld::Work& work) {
  const std::lock_guard lock(handle->mutex);
  const int number = handle->operations++;
  const int rank = handle->rank;
  auto enqueue = [world = handle->world, stream, number, rank, work] {
    static_cast<HostStream*>(stream)->Enqueue([=] {
      if (Faults().Hangs(rank, number)) return world->HangUntilAbort(rank);
      world->Do(rank, number, work);
    });
  };
  const int queries = Faults().DelayOf(function, rank);
  if (queries == 0) {
    enqueue();
    return Result::kSuccess;
  }
  handle->queries_in_progress = queries;
  handle->delayed = enqueue;
  return Result::kInProgress;
}

}  // namespace
}  // namespace leadline::test

extern "C" {

using namespace leadline::test;              // NOLINT: as NCCL's own names
using namespace leadline::collective::nccl;  // NOLINT

FakeNccl* fake_nccl() { return &Faults(); }

Result ncclGetVersion(int* version) {
  *version = Faults().version();
  return OnCall("ncclGetVersion", -1).value_or(Result::kSuccess);
}

Result ncclGetUniqueId(UniqueId* id) {
  if (const auto result = OnCall("ncclGetUniqueId", -1)) return *result;
  static int ids = 0;
  const std::string text = "fake " + std::to_string(++ids);
  std::copy(text.begin(), text.end(), id->bytes.begin());
  return Result::kSuccess;
}

Result ncclCommInitRankConfig(Handle* handle, int size, UniqueId id, int rank,
                              Config* config) {
  *handle = nullptr;
  if (const auto result = OnCall("ncclCommInitRankConfig", rank)) {
    return *result;
  }
  if (!IsSound(config)) return Result::kInvalidArgument;
  *handle = new leadline::collective::nccl::OpaqueCommunicator;
  (*handle)->rank = rank;
  (*handle)->world = WorldOf(id, size);
  (*handle)->queries_in_progress =
      Faults().DelayOf("ncclCommInitRankConfig", rank);
  (*handle)->world->Enter();
  Faults().AddLiving(1);
  return Result::kInProgress;
}

Result ncclCommGetAsyncError(Handle handle, Result* state) {
  if (handle == nullptr) return Result::kInvalidArgument;
  if (const auto result = OnCall("ncclCommGetAsyncError", handle->rank)) {
    return *result;
  }
  *state = StateOf(handle);
  return Result::kSuccess;
}

Result ncclCommAbort(Handle handle) {
  const auto result = OnCall("ncclCommAbort", handle->rank);
  handle->world->Abort(handle->rank);
  Faults().AddLiving(-1);
  delete handle;
  return result.value_or(Result::kSuccess);
}

Result ncclCommFinalize(Handle handle) {
  if (const auto result = OnCall("ncclCommFinalize", handle->rank)) {
    return *result;
  }
  handle->world->Leave();
  const std::lock_guard lock(handle->mutex);
  handle->parts = true;
  handle->queries_in_progress =
      Faults().DelayOf("ncclCommFinalize", handle->rank);
  return Result::kInProgress;
}

Result ncclCommDestroy(Handle handle) {
  const auto result = OnCall("ncclCommDestroy", handle->rank);
  Faults().AddLiving(-1);
  delete handle;
  return result.value_or(Result::kSuccess);
}

Result ncclAllReduce(const void* from, void* to, size_t count, DataType type,
                     Reduction reduction, Handle handle, Stream stream) {
  if (const auto result = OnCall("ncclAllReduce", handle->rank)) return *result;
  if (from != to || reduction != Reduction::kSum) {
    return Result::kInvalidArgument;
  }
  return Enqueue("ncclAllReduce", handle, stream,
                 {.sums = true,
                  .type = static_cast<int>(type),
                  .count = count,
                  .values = to});
}

Result ncclBroadcast(const void* from, void* to, size_t count, DataType type,
                     int root, Handle handle, Stream stream) {
  if (const auto result = OnCall("ncclBroadcast", handle->rank)) return *result;
  if (from != to) return Result::kInvalidArgument;
  return Enqueue("ncclBroadcast", handle, stream,
                 {.sums = false,
                  .type = static_cast<int>(type),
                  .root = root,
                  .count = count,
                  .values = to});
}

const char* ncclGetErrorString(Result result) {
  switch (result) {
    case Result::kSuccess:
      return "no error";
    case Result::kUnhandledCudaError:
      return "unhandled cuda error";
    case Result::kSystemError:
      return "unhandled system error";
    case Result::kInternalError:
      return "internal error";
    case Result::kInvalidArgument:
      return "invalid argument";
    case Result::kInvalidUsage:
      return "invalid usage";
    case Result::kRemoteError:
      return "remote process exited or there was a network error";
    case Result::kInProgress:
      return "NCCL operation in progress";
  }
  return "unknown result code";
}

const char* ncclGetLastError(Handle) { return "the words of the fake\n"; }
}
