// Compiled where NCCL's header is found: what abi.h says of it must hold.

#include <cstddef>
#include <type_traits>

#include <nccl.h>

#include "worker/collective/nccl/abi.h"

namespace leadline::collective::nccl {
namespace {

static_assert(NCCL_VERSION_CODE >= kOldestVersion);

constexpr bool Is(Result ours, ncclResult_t theirs) {
  return static_cast<int>(ours) == static_cast<int>(theirs);
}
static_assert(Is(Result::kSuccess, ncclSuccess));
static_assert(Is(Result::kUnhandledCudaError, ncclUnhandledCudaError));
static_assert(Is(Result::kSystemError, ncclSystemError));
static_assert(Is(Result::kInternalError, ncclInternalError));
static_assert(Is(Result::kInvalidArgument, ncclInvalidArgument));
static_assert(Is(Result::kInvalidUsage, ncclInvalidUsage));
static_assert(Is(Result::kRemoteError, ncclRemoteError));
static_assert(Is(Result::kInProgress, ncclInProgress));
static_assert(ncclNumResults == static_cast<int>(Result::kInProgress) + 1);

constexpr bool Is(DataType ours, ncclDataType_t theirs) {
  return static_cast<int>(ours) == static_cast<int>(theirs);
}
static_assert(Is(DataType::kUint8, ncclUint8));
static_assert(Is(DataType::kInt64, ncclInt64));
static_assert(Is(DataType::kFloat32, ncclFloat32));
static_assert(Is(DataType::kFloat64, ncclFloat64));
static_assert(static_cast<int>(Reduction::kSum) == static_cast<int>(ncclSum));

static_assert(sizeof(UniqueId) == sizeof(ncclUniqueId));
static_assert(std::is_trivially_copyable_v<UniqueId>);

constexpr ncclConfig_t kTheirs = NCCL_CONFIG_INITIALIZER;
static_assert(Config{}.size == sizeof(Config));
static_assert(sizeof(Config) <= sizeof(ncclConfig_t));
static_assert(offsetof(Config, size) == offsetof(ncclConfig_t, size));
static_assert(offsetof(Config, magic) == offsetof(ncclConfig_t, magic));
static_assert(offsetof(Config, version) == offsetof(ncclConfig_t, version));
static_assert(offsetof(Config, blocking) == offsetof(ncclConfig_t, blocking));
static_assert(Config{}.magic == kTheirs.magic);
static_assert(Config{}.undefined == NCCL_CONFIG_UNDEF_INT);

/// The same number of arguments, each of the same size and kind.
template <typename Ours, typename Theirs>
constexpr bool kSameValue =
    sizeof(Ours) == sizeof(Theirs) &&
    std::is_pointer_v<Ours> ==
        std::is_pointer_v<Theirs>&& std::is_class_v<Ours> ==
        std::is_class_v<Theirs>;
template <typename... Ours>
struct Arguments {
  template <typename... Theirs>
  static constexpr bool AreAlike(void (*)(Theirs...)) {
    if constexpr (sizeof...(Ours) == sizeof...(Theirs)) {
      return (kSameValue<Ours, Theirs> && ...);
    }
    return false;
  }
};
template <typename R, typename... Ours, typename S, typename... Theirs>
constexpr bool Alike(R (*)(Ours...), S (*)(Theirs...)) {
  using All = void (*)(Theirs...);
  return kSameValue<R, S> && Arguments<Ours...>::AreAlike(All{});
}
constexpr Functions kOurs;
static_assert(Alike(kOurs.get_version, &ncclGetVersion));
static_assert(Alike(kOurs.get_unique_id, &ncclGetUniqueId));
static_assert(Alike(kOurs.init_rank, &ncclCommInitRankConfig));
static_assert(Alike(kOurs.get_async_error, &ncclCommGetAsyncError));
static_assert(Alike(kOurs.abort, &ncclCommAbort));
static_assert(Alike(kOurs.finalize, &ncclCommFinalize));
static_assert(Alike(kOurs.destroy, &ncclCommDestroy));
static_assert(Alike(kOurs.all_reduce, &ncclAllReduce));
static_assert(Alike(kOurs.broadcast, &ncclBroadcast));
static_assert(Alike(kOurs.get_error_string, &ncclGetErrorString));
static_assert(Alike(kOurs.get_last_error, &ncclGetLastError));

}  // namespace
}  // namespace leadline::collective::nccl
