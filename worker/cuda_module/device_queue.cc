#include "worker/cuda_module/device_queue.h"

#include <memory>

#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

namespace leadline::cuda_module {
namespace {

class CudaMark final : public collective::DeviceMark {
 public:
  explicit CudaMark(const c10::cuda::CUDAStream& stream)
      : event_(cudaEventDisableTiming) {
    event_.record(stream);
  }
  bool IsDone() const override { return event_.query(); }

 private:
  at::cuda::CUDAEvent event_;
};

class CudaQueue final : public collective::DeviceQueue {
 public:
  // What others wait for goes before what this rank computes.
  explicit CudaQueue(c10::DeviceIndex device)
      : device_(device),
        stream_(c10::cuda::getStreamFromPool(/*isHighPriority=*/true, device)) {
  }

  void* stream() override { return stream_.stream(); }

  void FollowCompute() override {
    at::cuda::CUDAEvent computed(cudaEventDisableTiming);
    computed.record(c10::cuda::getCurrentCUDAStream(device_));
    computed.block(stream_);
  }

  std::shared_ptr<const collective::DeviceMark> Mark() override {
    return std::make_shared<const CudaMark>(stream_);
  }

 private:
  c10::DeviceIndex device_;
  c10::cuda::CUDAStream stream_;
};

}  // namespace
}  // namespace leadline::cuda_module

leadline::collective::DeviceQueue* leadline_cuda_queue(int index) {
  const auto device = static_cast<c10::DeviceIndex>(index);
  c10::cuda::set_device(device);
  return std::make_unique<leadline::cuda_module::CudaQueue>(device).release();
}
