// NVIDIA's management library as far as the agent calls it, with as many GPUs
// as the environment says and whatever error a test wants:
//   LEADLINE_FAKE_NVML = [GPUS][:CALL=RESULT[@INDEX]]...
// "4" has four; "4:uuid=15@1" has lost the second; "4:init=18" does not fit its
// driver. While the file that LEADLINE_FAKE_STRANGER names exists, a stranger
// has all but 1 MiB of the GPU whose index stands in it, or all but as many
// bytes as stand after it.

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace {

struct Memory {
  unsigned long long total, free, used;
};

std::string Wanted() {
  const char* text = std::getenv("LEADLINE_FAKE_NVML");
  return text == nullptr ? "" : text;
}

unsigned int Count() {
  return static_cast<unsigned int>(std::strtoul(Wanted().c_str(), nullptr, 10));
}

/// What `call` returns for that GPU; -1: for none.
int ResultOf(const std::string& call, int index = -1) {
  const std::string wanted = Wanted();
  const size_t at = wanted.find(":" + call + "=");
  if (at == std::string::npos) return 0;
  char* end = nullptr;
  const long result =
      std::strtol(wanted.c_str() + at + call.size() + 2, &end, 10);
  const bool is_other =
      *end == '@' && std::strtol(end + 1, nullptr, 10) != index;
  return is_other ? 0 : static_cast<int>(result);
}

/// Handles are indices from 1.
int IndexOf(void* device) {
  return static_cast<int>(reinterpret_cast<size_t>(device)) - 1;
}

int Put(const std::string& text, char* into, unsigned int bytes) {
  if (text.size() >= bytes) return 7;
  std::strcpy(into, text.c_str());
  return 0;
}

}  // namespace

extern "C" {

int nvmlInit_v2() { return ResultOf("init"); }
int nvmlShutdown() { return 0; }

int nvmlDeviceGetCount_v2(unsigned int* count) {
  *count = Count();
  return ResultOf("count");
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void** device) {
  if (index >= Count()) return 2;
  *device = reinterpret_cast<void*>(static_cast<size_t>(index) + 1);
  return ResultOf("handle", static_cast<int>(index));
}

int nvmlDeviceGetUUID(void* device, char* uuid, unsigned int bytes) {
  const int index = IndexOf(device);
  if (const int result = ResultOf("uuid", index); result != 0) return result;
  return Put("GPU-0000000" + std::to_string(index) + "-fake", uuid, bytes);
}

int nvmlDeviceGetName(void* device, char* name, unsigned int bytes) {
  if (const int result = ResultOf("name", IndexOf(device)); result != 0) {
    return result;
  }
  return Put("NVIDIA Fake", name, bytes);
}

int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  *memory = {1ULL << 34, 1ULL << 33, 1ULL << 33};
  const char* stranger = std::getenv("LEADLINE_FAKE_STRANGER");
  int index = -1;
  unsigned long long free = 1ULL << 20;
  if (stranger != nullptr) {
    std::ifstream file(stranger);
    file >> index;
    if (unsigned long long bytes = 0; file >> bytes) free = bytes;
  }
  if (index == IndexOf(device)) {
    *memory = {1ULL << 34, free, (1ULL << 34) - free};
  }
  return ResultOf("memory", IndexOf(device));
}

const char* nvmlErrorString(int result) {
  switch (result) {
    case 4:
      return "Insufficient Permissions";
    case 15:
      return "GPU is lost";
    case 18:
      return "Driver/library version mismatch";
    default:
      return "Unknown Error";
  }
}

}  // extern "C"
