#include "coordinator/metrics/process_gauges.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "coordinator/metrics/gauge_family.h"

namespace leadline::metrics {
namespace {

/// Fields of /proc/self/stat from the third on, proc(5).
std::vector<std::string> StatFields() {
  const std::ifstream file("/proc/self/stat");
  std::ostringstream read;
  read << file.rdbuf();
  const std::string text = read.str();
  // The name of the program may hold anything.
  const size_t end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return {};
  std::istringstream rest(text.substr(end_of_name + 1));
  return {std::istream_iterator<std::string>(rest), {}};
}

constexpr size_t kThird = 3;  // the first of StatFields, by proc(5)

double Field(const std::vector<std::string>& fields, size_t number) {
  const size_t place = number - kThird;
  return place < fields.size() ? std::stod(fields[place]) : 0;
}

double BootTime() {
  std::ifstream file("/proc/stat");
  std::string word;
  double seconds = 0;
  while (file >> word) {
    if (word == "btime" && file >> seconds) return seconds;
  }
  return 0;
}

double CountOpenFiles() {
  std::error_code error;
  const std::filesystem::directory_iterator files("/proc/self/fd", error);
  if (error) return 0;
  // The one that looks is open too.
  return static_cast<double>(std::distance(begin(files), end(files)) - 1);
}

void Add(std::vector<prometheus::MetricFamily>& families, const char* name,
         double value) {
  GaugeFamily family(name);
  family.Set({}, value);
  families.push_back(family.family());
}

}  // namespace

std::vector<prometheus::MetricFamily> CollectProcess() {
  std::vector<prometheus::MetricFamily> families;
  rusage used{};
  if (getrusage(RUSAGE_SELF, &used) == 0) {
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) +
             static_cast<double>(time.tv_usec) * 1e-6;
    };
    Add(families, "process_cpu_seconds_total",
        seconds(used.ru_utime) + seconds(used.ru_stime));
  }
  if (const auto fields = StatFields(); !fields.empty()) {
    const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
    const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    Add(families, "process_resident_memory_bytes", Field(fields, 24) * page);
    Add(families, "process_virtual_memory_bytes", Field(fields, 23));
    Add(families, "process_start_time_seconds",
        BootTime() + Field(fields, 22) / ticks);
  }
  Add(families, "process_open_fds", CountOpenFiles());
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    Add(families, "process_max_fds", static_cast<double>(limit.rlim_cur));
  }
  return families;
}

}  // namespace leadline::metrics
