#include "worker/collective/nccl/library.h"

#include <algorithm>

#include <dlfcn.h>

#include "worker/collective/ring/collective_error.h"

namespace leadline::collective::nccl {
namespace {

constexpr size_t kLongestSaying = 600;
constexpr const char* kRemedy = "; scripts/setup --cuda brings one";

void* Open(const std::string& name) {
  // Never closed: its threads outlive every communicator.
  void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return library;
  const char* const reason = dlerror();
  throw SetUpError("NCCL cannot be opened (" +
                   std::string(reason == nullptr ? name : reason) + ")" +
                   kRemedy);
}

template <typename Function>
void Find(void* library, const std::string& name, const char* symbol,
          Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  if (function != nullptr) return;
  throw SetUpError("NCCL (" + name + ") lacks " + symbol + kRemedy);
}

std::string Line(const char* text) {
  std::string line = text == nullptr ? "" : text;
  line.resize(std::min(line.size(), kLongestSaying));
  std::ranges::replace(line, '\n', ' ');
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

}  // namespace

Library::Library(const std::string& name) {
  void* const library = Open(name);
  Find(library, name, "ncclGetVersion", functions_.get_version);
  Find(library, name, "ncclGetErrorString", functions_.get_error_string);
  // Where one of those below is missing, its version says more than that.
  const Result result = functions_.get_version(&version_);
  if (result != Result::kSuccess) {
    throw SetUpError("NCCL (" + name + ") does not tell its version: " +
                     Line(functions_.get_error_string(result)) + " (" +
                     NameOf(result) + ")");
  }
  if (version_ < kOldestVersion) {
    throw SetUpError("NCCL (" + name + ") is " + VersionText(version_) +
                     ", and must be 2.14 or later" + kRemedy);
  }
  Find(library, name, "ncclGetUniqueId", functions_.get_unique_id);
  Find(library, name, "ncclCommInitRankConfig", functions_.init_rank);
  Find(library, name, "ncclCommGetAsyncError", functions_.get_async_error);
  Find(library, name, "ncclCommAbort", functions_.abort);
  Find(library, name, "ncclCommFinalize", functions_.finalize);
  Find(library, name, "ncclCommDestroy", functions_.destroy);
  Find(library, name, "ncclAllReduce", functions_.all_reduce);
  Find(library, name, "ncclBroadcast", functions_.broadcast);
  Find(library, name, "ncclGetLastError", functions_.get_last_error);
}

std::string Library::Explain(Result result) const {
  std::string text = Line(functions_.get_error_string(result));
  if (!text.empty()) text += ' ';
  text += "(" + NameOf(result) + ")";
  // It takes a communicator and does not look at it.
  const std::string last = Line(functions_.get_last_error(nullptr));
  return last.empty() ? text : text + "; NCCL says: " + last;
}

std::string VersionText(int version) {
  // 2.8 and before were written in four digits.
  const int of_major = version < 10000 ? 1000 : 10000;
  return std::to_string(version / of_major) + "." +
         std::to_string(version % of_major / 100) + "." +
         std::to_string(version % 100);
}

std::string NameOf(Result result) {
  switch (result) {
    case Result::kSuccess:
      return "ncclSuccess";
    case Result::kUnhandledCudaError:
      return "ncclUnhandledCudaError";
    case Result::kSystemError:
      return "ncclSystemError";
    case Result::kInternalError:
      return "ncclInternalError";
    case Result::kInvalidArgument:
      return "ncclInvalidArgument";
    case Result::kInvalidUsage:
      return "ncclInvalidUsage";
    case Result::kRemoteError:
      return "ncclRemoteError";
    case Result::kInProgress:
      return "ncclInProgress";
  }
  return "result " + std::to_string(static_cast<int>(result));
}

}  // namespace leadline::collective::nccl
