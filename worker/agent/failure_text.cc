#include "worker/agent/failure_text.h"

namespace leadline::agent {
namespace {

struct Phrase {
  std::string_view words;
  FailureKind kind;
};

// The first that is found counts: what speaks of memory or of setting up comes
// before the library that says it.
constexpr Phrase kPhrases[] = {
    {"CUDA out of memory", FailureKind::kOom},
    {"CUDA error: out of memory", FailureKind::kOom},
    {"CUBLAS_STATUS_ALLOC_FAILED", FailureKind::kOom},
    {"std::bad_alloc", FailureKind::kOom},
    {"Cannot allocate memory", FailureKind::kOom},
    {"can't allocate memory", FailureKind::kOom},
    {"not enough memory", FailureKind::kOom},
    {"No space left on device", FailureKind::kDisk},
    {"Disk quota exceeded", FailureKind::kDisk},
    {"Input/output error", FailureKind::kDisk},
    {"Read-only file system", FailureKind::kDisk},
    {"ncclCommInit", FailureKind::kNcclInit},
    {"NCCL init", FailureKind::kNcclInit},
    {"NCCL", FailureKind::kNccl},
    {"ncclUnhandledCudaError", FailureKind::kNccl},
    {"ncclSystemError", FailureKind::kNccl},
    {"ncclRemoteError", FailureKind::kNccl},
    // What a kernel of ours asserts says nothing of the device.
    {"device-side assert", FailureKind::kCrash},
    {"CUDA error", FailureKind::kDevice},
    {"CUDA driver", FailureKind::kDevice},
    {"CUDNN_STATUS", FailureKind::kDevice},
    {"cuDNN error", FailureKind::kDevice},
    {"CUBLAS_STATUS", FailureKind::kDevice},
    {"no CUDA-capable device", FailureKind::kDevice},
};

}  // namespace

std::optional<FailureKind> KindFromText(std::string_view text) {
  for (const Phrase& phrase : kPhrases) {
    if (text.find(phrase.words) != std::string_view::npos) return phrase.kind;
  }
  return std::nullopt;
}

}  // namespace leadline::agent
