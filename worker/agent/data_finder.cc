#include "worker/agent/data_finder.h"

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <absl/status/status.h>

#include "model/spec/dataset_table.h"
#include "worker/dataset/data_error.h"
#include "worker/dataset/ensure_dataset.h"
#include "worker/dataset/text_reader.h"

namespace leadline::agent {
namespace {

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
                                           const std::string& folder,
                                           const std::string& samples) {
  const spec::DatasetInfo* info = spec::FindDataset(dataset.name());
  if (info == nullptr) {
    return absl::NotFoundError("this agent knows no data set " +
                               dataset.name());
  }
  if (info->content_hash != dataset.content_hash()) {
    return HashDiffers(dataset.name(), std::string(info->content_hash),
                       dataset.content_hash());
  }
  std::optional<std::filesystem::path> where;
  if (!samples.empty()) where = samples;
  return dataset::EnsureDataset(*info, folder, where).string();
}

}  // namespace

FindData MakeDataFinder(std::string folder, std::string samples) {
  return [folder = std::move(folder), samples = std::move(samples)](
             const v1::Dataset& dataset) -> absl::StatusOr<std::string> {
    try {
      std::filesystem::create_directories(folder);
      return dataset.path().empty() ? FindRegistered(dataset, folder, samples)
                                    : FindFile(dataset);
    } catch (const dataset::DataError& error) {
      return absl::NotFoundError(error.what());
    } catch (const std::system_error& error) {
      return absl::UnavailableError(error.what());
    }
  };
}

}  // namespace leadline::agent
