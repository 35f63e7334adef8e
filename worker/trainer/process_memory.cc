#include "worker/trainer/process_memory.h"

#include <fstream>
#include <string>

namespace leadline::trainer {

int64_t PeakResidentBytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    int64_t kibibytes = 0;
    if (word == "VmHWM:" && status >> kibibytes) return kibibytes * 1024;
  }
  return 0;
}

}  // namespace leadline::trainer
