// Whether a database is whole.

#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <thread>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "storage/sqlite/connection.h"

namespace leadline::storage::sqlite {

/// True: the structure is sound. False: the time was up before that was known.
/// DataLoss, with what to do, if it is damaged.
absl::StatusOr<bool> LookForDamage(Connection& connection,
                                   std::chrono::milliseconds time);

/// Looks through all of a database on a thread of its own, table by table,
/// beginning some seconds after it was made.
class BackgroundCheck {
 public:
  /// `checked` gets OK, or what LookForDamage says, once; never if this is
  /// destroyed before.
  BackgroundCheck(const std::filesystem::path& path,
                  std::function<void(const absl::Status&)> checked);

 private:
  std::jthread thread_;
};

}  // namespace leadline::storage::sqlite
