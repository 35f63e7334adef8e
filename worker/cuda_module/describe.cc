#include "worker/cuda_module/describe.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <string>

#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <nlohmann/json.hpp>

#include "worker/cuda_module/device_probe.h"

namespace leadline::cuda_module {
namespace {

using Json = nlohmann::json;

// CUDA writes 13.1 as 13010.
std::string CudaVersion(int number) {
  return std::to_string(number / 1000) + "." +
         std::to_string(number % 1000 / 10);
}

// NCCL writes 2.28.9 as 22809.
std::string NcclVersion(int number) {
  return std::to_string(number / 10000) + "." +
         std::to_string(number / 100 % 100) + "." +
         std::to_string(number % 100);
}

std::string UuidText(const cudaUUID_t& uuid) {
  std::string text = "GPU";
  for (size_t i = 0; i < sizeof(uuid.bytes); ++i) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x",
                  static_cast<unsigned char>(uuid.bytes[i]));
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits.data();
  }
  return text;
}

Json TextOrNull(cudaError_t error) {
  return error == cudaSuccess ? Json(nullptr) : Json(cudaGetErrorString(error));
}

Json DescribeDevice(int index) {
  Json device = {{"index", index}};
  cudaDeviceProp properties{};
  cudaError_t error = cudaGetDeviceProperties(&properties, index);
  if (error == cudaSuccess) {
    device["name"] = properties.name;
    device["uuid"] = UuidText(properties.uuid);
    device["memory_bytes"] = properties.totalGlobalMem;
    device["compute_capability"] = std::to_string(properties.major) + "." +
                                   std::to_string(properties.minor);
    device["multiprocessors"] = properties.multiProcessorCount;
    error = cudaSetDevice(index);
  }
  if (error == cudaSuccess) error = ProbeCurrentDevice();
  device["error"] = TextOrNull(error);
  return device;
}

Json DescribeDevices(int count) {
  int current = 0;
  cudaGetDevice(&current);
  Json devices = Json::array();
  for (int index = 0; index < count; ++index) {
    devices.push_back(DescribeDevice(index));
  }
  cudaSetDevice(current);
  return devices;
}

Json Describe() {
  int runtime = 0;
  int driver = 0;
  int nccl = 0;
  int count = 0;
  cudaRuntimeGetVersion(&runtime);
  const bool has_driver =
      cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0;
  ncclGetVersion(&nccl);
  cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count == 0) error = cudaErrorNoDevice;
  Json text = {
      {"cuda_runtime", CudaVersion(runtime)},
      {"cuda_driver", has_driver ? Json(CudaVersion(driver)) : Json(nullptr)},
      {"nccl", NcclVersion(nccl)},
      {"error",
       has_driver ? TextOrNull(error) : Json("no NVIDIA driver answers")},
      {"devices",
       error == cudaSuccess ? DescribeDevices(count) : Json::array()}};
  if (error == cudaSuccess && c10::cuda::device_count() != count) {
    text["error"] = "torch sees " + std::to_string(c10::cuda::device_count()) +
                    " of " + std::to_string(count) + " devices";
  }
  return text;
}

}  // namespace
}  // namespace leadline::cuda_module

size_t leadline_cuda_describe(char* buffer, size_t size) {
  const std::string text = leadline::cuda_module::Describe().dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (size > 0) {
    const size_t written = std::min(text.size(), size - 1);
    std::memcpy(buffer, text.data(), written);
    buffer[written] = '\0';
  }
  return text.size();
}
