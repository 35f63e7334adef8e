#include "worker/agent/data_finder.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include <absl/status/status.h>

#include "model/spec/dataset_table.h"
#include "worker/dataset/data_error.h"
#include "worker/dataset/ensure_dataset.h"
#include "worker/dataset/fetch/fetch_dataset.h"
#include "worker/dataset/text_reader.h"

namespace leadline::agent {
namespace {

constexpr std::chrono::seconds kBetweenNews{2};

/// Passes on the first word, and later ones when some time has passed.
std::function<void(const dataset::FetchProgress&)> NowAndThen(
    const std::function<void(const std::string&)>& tell) {
  if (!tell) return {};
  return [tell, next = std::chrono::steady_clock::time_point()](
             const dataset::FetchProgress& progress) mutable {
    const auto now = std::chrono::steady_clock::now();
    if (now < next) return;
    next = now + kBetweenNews;
    tell(InWords(progress));
  };
}

absl::Status HashDiffers(const std::string& what, const std::string& found,
                         const std::string& wanted) {
  return absl::NotFoundError(what + " has the hash " + found +
                             ", the sweep was submitted with " + wanted);
}

absl::StatusOr<std::string> FindFile(const v1::Dataset& dataset) {
  const std::filesystem::path path = dataset.path();
  if (!path.is_absolute()) {
    return absl::NotFoundError("the path of data set " + dataset.name() +
                               " is not absolute");
  }
  const std::string hash = dataset::HashFile(path, dataset.content_hash());
  if (hash != dataset.content_hash()) {
    return HashDiffers(path.string(), hash, dataset.content_hash());
  }
  return path.string();
}

absl::StatusOr<std::string> FindRegistered(const v1::Dataset& dataset,
                                           const DataPlaces& places,
                                           dataset::VerifiedFiles& verified,
                                           const FindOptions& options) {
  const spec::DatasetInfo* info = spec::FindDataset(dataset.name());
  if (info == nullptr) {
    return absl::NotFoundError("this agent knows no data set " +
                               dataset.name());
  }
  if (info->content_hash != dataset.content_hash()) {
    return HashDiffers(dataset.name(), std::string(info->content_hash),
                       dataset.content_hash());
  }
  if (info->kind == spec::DatasetKind::kDownload) {
    return dataset::FetchDataset(*info, {.folder = places.folder,
                                         .base_url = places.base_url,
                                         .limits = {},
                                         .tell = NowAndThen(options.tell),
                                         .stop = options.stop,
                                         .verified = &verified})
        .string();
  }
  std::optional<std::filesystem::path> samples;
  if (!places.samples.empty()) samples = places.samples;
  return dataset::EnsureDataset(*info, places.folder, samples).string();
}

}  // namespace

FindData MakeDataFinder(DataPlaces places) {
  return [places = std::move(places),
          verified = std::make_shared<dataset::VerifiedFiles>()](
             const v1::Dataset& dataset,
             const FindOptions& options) -> absl::StatusOr<std::string> {
    try {
      std::filesystem::create_directories(places.folder);
      return dataset.path().empty()
                 ? FindRegistered(dataset, places, *verified, options)
                 : FindFile(dataset);
    } catch (const dataset::DataError& error) {
      return absl::NotFoundError(error.what());
    } catch (const dataset::FetchStopped& stopped) {
      return absl::CancelledError(stopped.what());
    } catch (const std::system_error& error) {
      return absl::UnavailableError(error.what());
    }
  };
}

std::string InWords(const dataset::FetchProgress& progress) {
  constexpr int64_t kMega = 1'000'000;
  return progress.doing + " " + progress.file + ": " +
         std::to_string(progress.done / kMega) + " of " +
         std::to_string((progress.total + kMega - 1) / kMega) + " MB";
}

}  // namespace leadline::agent
