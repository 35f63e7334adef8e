// Puts the data of an attempt where its trainer can open it, away from the
// thread that renews leases: fetching, making or hashing a text takes a while.

#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include <absl/status/statusor.h>

#include "leadline/v1/experiment.pb.h"
#include "worker/dataset/fetch/fetch_options.h"

namespace leadline::agent {

/// Of one call.
struct FindOptions {
  std::stop_token stop;
  /// Hears now and then what is being done, in words for people; may be empty.
  std::function<void(const std::string&)> tell;
};

/// The file of the data set, absolute. NotFound if it is missing or is not what
/// its hash says (failure kind data), Unavailable if it cannot be written
/// (disk), Cancelled if it was stopped. Called from threads of its own, several
/// at once.
using FindData = std::function<absl::StatusOr<std::string>(
    const v1::Dataset& dataset, const FindOptions& options)>;

/// Where an agent's data lies and comes from.
struct DataPlaces {
  std::string folder;    // of registered data sets, made or fetched
  std::string samples;   // of the samples; may be empty
  std::string base_url;  // see FetchOptions
};

/// Files of users are looked for at their path. All are checked by content.
FindData MakeDataFinder(DataPlaces places);

/// What a fetch is doing, in words: "fetching text8.zip: 12 of 31 MB".
std::string InWords(const dataset::FetchProgress& progress);

}  // namespace leadline::agent
