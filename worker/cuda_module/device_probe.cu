#include "worker/cuda_module/device_probe.h"

namespace leadline::cuda_module {
namespace {

constexpr int kThreads = 256;
constexpr int kSum = kThreads * (kThreads - 1) / 2;

__global__ void SumThreadNumbers(int* sum) { atomicAdd(sum, threadIdx.x); }

}  // namespace

cudaError_t ProbeCurrentDevice() {
  int* device_sum = nullptr;
  int sum = 0;
  cudaError_t error = cudaMalloc(&device_sum, sizeof(sum));
  if (error != cudaSuccess) return error;
  error = cudaMemcpy(device_sum, &sum, sizeof(sum), cudaMemcpyHostToDevice);
  if (error == cudaSuccess) {
    SumThreadNumbers<<<1, kThreads>>>(device_sum);
    error = cudaGetLastError();
  }
  if (error == cudaSuccess) {
    error = cudaMemcpy(&sum, device_sum, sizeof(sum), cudaMemcpyDeviceToHost);
  }
  cudaFree(device_sum);
  if (error == cudaSuccess && sum != kSum) error = cudaErrorUnknown;
  return error;
}

}  // namespace leadline::cuda_module
