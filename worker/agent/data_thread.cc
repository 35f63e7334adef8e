#include "worker/agent/data_thread.h"

#include <exception>
#include <utility>

#include "model/spec/dataset_table.h"

namespace leadline::agent {
namespace {

constexpr size_t kMostRequests = 4096;

// There are as many as the table has downloads, whatever is asked for.
std::string LaneOf(const v1::Dataset& dataset) {
  if (!dataset.path().empty()) return "";
  const spec::DatasetInfo* info = spec::FindDataset(dataset.name());
  const bool is_fetched =
      info != nullptr && info->kind == spec::DatasetKind::kDownload;
  return is_fetched ? dataset.name() : "";
}

}  // namespace

DataThread::Lane::Lane(DataThread& owner)
    : requests(kMostRequests), thread([this, &owner](std::stop_token stop) {
        while (!stop.stop_requested()) {
          const auto request = requests.PopUntil(
              std::chrono::steady_clock::now() + std::chrono::seconds(1));
          if (request) owner.Answer(*request);
        }
      }) {}

DataThread::Lane::~Lane() {
  thread.request_stop();
  requests.Close();
}

DataThread::DataThread(FindData find, std::function<void(DataFound)> sink,
                       std::function<void(DataNews)> news)
    : find_(std::move(find)), sink_(std::move(sink)), news_(std::move(news)) {}

DataThread::~DataThread() {
  {
    const std::scoped_lock lock(mutex_);
    for (auto& [attempt, stop] : stops_) stop.request_stop();
  }
  lanes_.clear();
}

void DataThread::Find(const AttemptKey& attempt, v1::Dataset dataset) {
  std::stop_token stop;
  {
    const std::scoped_lock lock(mutex_);
    stop = stops_[attempt].get_token();
  }
  std::unique_ptr<Lane>& lane = lanes_[LaneOf(dataset)];
  if (!lane) lane = std::make_unique<Lane>(*this);
  lane->requests.Push({attempt, std::move(dataset), std::move(stop)});
}

void DataThread::Forget(const AttemptKey& attempt) {
  const std::scoped_lock lock(mutex_);
  const auto found = stops_.find(attempt);
  if (found != stops_.end()) found->second.request_stop();
}

// Whatever goes wrong ends one attempt, not the thread the others wait for.
absl::StatusOr<std::string> DataThread::TryToFind(
    const Request& request,
    const std::function<void(const std::string&)>& tell) {
  try {
    return find_(request.dataset, {request.stop, tell});
  } catch (const std::exception& failed) {
    return absl::InternalError(std::string("finding its data failed: ") +
                               failed.what());
  }
}

void DataThread::Answer(const Request& request) {
  const auto tell = [&](const std::string& message) {
    news_({request.attempt, message});
  };
  absl::StatusOr<std::string> path =
      request.stop.stop_requested()
          ? absl::CancelledError("not needed any more")
          : TryToFind(request, tell);
  {
    const std::scoped_lock lock(mutex_);
    stops_.erase(request.attempt);
  }
  sink_({request.attempt, std::move(path)});
}

}  // namespace leadline::agent
