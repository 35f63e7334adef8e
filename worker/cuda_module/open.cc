#include "worker/cuda_module/open.h"

#include <charconv>
#include <cstddef>
#include <stdexcept>
#include <string_view>

#include <dlfcn.h>
#include <nlohmann/json.hpp>

namespace leadline::cuda_module {
namespace {

using DescribeFunction = size_t (*)(char*, size_t);
using QueueFunction = collective::DeviceQueue* (*)(int);

constexpr std::string_view kPrefix = "cuda:";

std::filesystem::path ModulePath(const std::filesystem::path& folder) {
  return folder / "libleadline_cuda.so";
}

template <typename Function>
Function Find(const std::filesystem::path& folder, const char* name) {
  void* module =
      dlopen(ModulePath(folder).c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
  if (module == nullptr) {
    throw std::runtime_error("the CUDA module is not open");
  }
  const auto function = reinterpret_cast<Function>(dlsym(module, name));
  if (function == nullptr) {
    throw std::runtime_error(std::string("the CUDA module lacks ") + name);
  }
  return function;
}

/// Of "cuda:<index>"; -1 for anything else.
int IndexOf(const std::string& device) {
  int index = -1;
  const char* end = device.data() + device.size();
  if (device.starts_with(kPrefix)) {
    const auto [stop, error] =
        std::from_chars(device.data() + kPrefix.size(), end, index);
    if (error != std::errc() || stop != end) index = -1;
  }
  return index;
}

std::string TextOrEmpty(const nlohmann::json& value) {
  return value.is_null() ? std::string() : value.get<std::string>();
}

Device ReadDevice(const nlohmann::json& json) {
  Device device;
  device.index = json.at("index").get<int>();
  device.error = TextOrEmpty(json.at("error"));
  // A device that failed early has an index and an error only.
  device.name = json.value("name", "");
  device.uuid = json.value("uuid", "");
  device.memory_bytes = json.value("memory_bytes", int64_t{0});
  device.compute_capability = json.value("compute_capability", "");
  return device;
}

Description ReadDescription(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text);
  Description description;
  description.cuda_runtime = json.at("cuda_runtime").get<std::string>();
  description.cuda_driver = TextOrEmpty(json.at("cuda_driver"));
  description.nccl = json.at("nccl").get<std::string>();
  description.error = TextOrEmpty(json.at("error"));
  for (const nlohmann::json& device : json.at("devices")) {
    description.devices.push_back(ReadDevice(device));
  }
  return description;
}

}  // namespace

std::filesystem::path ProgramFolder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

std::optional<std::string> Open(const std::filesystem::path& folder) {
  const std::filesystem::path path = ModulePath(folder);
  if (!std::filesystem::exists(path)) {
    return "this build has no CUDA module (" + path.string() +
           "): run scripts/setup --cuda";
  }
  // RTLD_GLOBAL: torch finds its device half through symbols of the process.
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    const char* reason = dlerror();
    return "the CUDA module cannot be opened (" +
           std::string(reason == nullptr ? "no reason given" : reason) +
           "): run scripts/setup --cuda";
  }
  return std::nullopt;
}

Description Describe(const std::filesystem::path& folder) {
  const auto describe =
      Find<DescribeFunction>(folder, "leadline_cuda_describe");
  std::string text(describe(nullptr, 0), '\0');
  text.resize(describe(text.data(), text.size() + 1));
  try {
    return ReadDescription(text);
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(
        std::string("the CUDA module's answer cannot be read: ") +
        error.what());
  }
}

std::shared_ptr<collective::DeviceQueue> MakeDeviceQueue(
    const std::filesystem::path& folder, const std::string& device) {
  const auto make = Find<QueueFunction>(folder, "leadline_cuda_queue");
  return std::shared_ptr<collective::DeviceQueue>(make(IndexOf(device)));
}

std::optional<std::string> Refusal(const Description& description,
                                   const std::string& device) {
  const int index = IndexOf(device);
  if (index < 0) return "no CUDA device is named '" + device + "'";
  if (!description.error.empty()) {
    return "cannot train on " + device + ": " + description.error;
  }
  for (const Device& known : description.devices) {
    if (known.index != index) continue;
    if (known.error.empty()) return std::nullopt;
    return "cannot train on " + device + " (" + known.name +
           "): " + known.error;
  }
  return "cannot train on " + device + ": this machine has " +
         std::to_string(description.devices.size()) + " CUDA devices";
}

std::optional<std::string> WhyNotAlone(const Description& description) {
  if (description.devices.size() <= 1) return std::nullopt;
  return "this trainer was given one device and sees " +
         std::to_string(description.devices.size()) +
         ": CUDA_VISIBLE_DEVICES of its agent has no effect here";
}

}  // namespace leadline::cuda_module
