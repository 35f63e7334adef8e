// NCCL, opened at run time: nothing of it is linked, so that the trainer starts
// on machines that do not have it.

#pragma once

#include <string>

#include "worker/collective/nccl/abi.h"

namespace leadline::collective::nccl {

inline constexpr const char* kLibraryName = "libnccl.so.2";

/// For the rest of the process. Thread-safe.
class Library {
 public:
  /// A name the loader finds, or a path. Throws SetUpError where it cannot be
  /// opened, lacks a function or is older than kOldestVersion.
  explicit Library(const std::string& name = kLibraryName);

  const Functions& functions() const { return functions_; }
  /// 22809 is 2.28.9.
  int version() const { return version_; }

  /// "unhandled system error (ncclSystemError); NCCL says: ...", of the last
  /// call that failed.
  std::string Explain(Result result) const;

 private:
  Functions functions_;
  int version_ = 0;
};

/// "2.28.9".
std::string VersionText(int version);

/// "ncclRemoteError"; "result 42" of one that NCCL does not have.
std::string NameOf(Result result);

}  // namespace leadline::collective::nccl
