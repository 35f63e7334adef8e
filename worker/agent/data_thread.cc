#include "worker/agent/data_thread.h"

#include <utility>

namespace leadline::agent {
namespace {

constexpr size_t kMostRequests = 4096;

}  // namespace

DataThread::DataThread(FindData find, std::function<void(DataFound)> sink)
    : find_(std::move(find)),
      sink_(std::move(sink)),
      requests_(kMostRequests),
      thread_([this](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          const auto request = requests_.PopUntil(
              std::chrono::steady_clock::now() + std::chrono::seconds(1));
          if (request) sink_({request->attempt, find_(request->dataset)});
        }
      }) {}

DataThread::~DataThread() {
  thread_.request_stop();
  requests_.Close();
}

void DataThread::Find(const AttemptKey& attempt, v1::Dataset dataset) {
  requests_.Push({attempt, std::move(dataset)});
}

}  // namespace leadline::agent
