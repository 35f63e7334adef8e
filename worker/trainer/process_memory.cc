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

void OfferToEndFirst() { std::ofstream("/proc/self/oom_score_adj") << 500; }

}  // namespace leadline::trainer
