#include "worker/agent/fetch_ahead.h"

#include <cstdio>
#include <ctime>
#include <thread>

#include <signal.h>
#include <unistd.h>

#include "model/spec/dataset_table.h"

namespace leadline::agent {
namespace {

// Waits for a signal beside the fetch.
class StopBySignal {
 public:
  StopBySignal()
      : thread_([this](const std::stop_token& done) {
          sigset_t signals;
          sigemptyset(&signals);
          for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
            sigaddset(&signals, number);
          }
          const timespec rest{0, 100'000'000};
          while (!done.stop_requested()) {
            if (sigtimedwait(&signals, nullptr, &rest) > 0) {
              stop_.request_stop();
            }
          }
        }) {}

  std::stop_token token() const { return stop_.get_token(); }

 private:
  std::stop_source stop_;
  std::jthread thread_;
};

std::string Downloads() {
  std::string names;
  for (const spec::DatasetInfo& info : spec::DatasetTable()) {
    if (info.kind != spec::DatasetKind::kDownload) continue;
    names += (names.empty() ? "" : ", ") + std::string(info.name);
  }
  return names;
}

}  // namespace

int FetchAhead(const std::string& name, const DataPlaces& places) {
  const spec::DatasetInfo* info = spec::FindDataset(name);
  if (info == nullptr || info->kind != spec::DatasetKind::kDownload) {
    std::fprintf(stderr, "leadline-agent: --fetch: '%s' is none of %s\n",
                 name.c_str(), Downloads().c_str());
    return 2;
  }
  v1::Dataset wanted;
  wanted.set_name(name);
  wanted.set_content_hash(std::string(info->content_hash));
  const StopBySignal stop;
  const bool is_terminal = isatty(STDERR_FILENO) != 0;
  const auto path = MakeDataFinder(places)(
      wanted, {stop.token(), [&](const std::string& doing) {
                 std::fprintf(stderr, is_terminal ? "\r\033[K%s" : "%s\n",
                              doing.c_str());
               }});
  if (is_terminal) std::fprintf(stderr, "\r\033[K");
  if (!path.ok()) {
    std::fprintf(stderr, "leadline-agent: %s\n",
                 std::string(path.status().message()).c_str());
    return 1;
  }
  std::printf("%s\n", path->c_str());
  return 0;
}

}  // namespace leadline::agent
