// Waits for room on a full disk, with everything kept in memory.

#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include "worker/trainer/run_control.h"

namespace leadline::trainer {

/// What one writer does when the disk is full: it tries again until there is
/// room, and whoever asks the trainer hears what it waits for. Owned by one
/// thread.
class RoomWait {
 public:
  /// `what` for people: "the events", "the checkpoint of step 100".
  RoomWait(RunControl& control, std::string what, std::filesystem::path where,
           std::chrono::milliseconds between = std::chrono::seconds(1))
      : control_(&control),
        what_(std::move(what)),
        where_(std::move(where)),
        between_(between) {}
  ~RoomWait() { GoOn(); }
  RoomWait(RoomWait&& other) noexcept;
  RoomWait& operator=(RoomWait&& other) noexcept;

  /// True after a while if that error is a lack of room: then it is worth
  /// trying again. False at once for any other error.
  bool After(int error);

  /// What was tried has been done.
  void GoOn();

 private:
  RunControl* control_;
  std::string what_;
  std::filesystem::path where_;
  std::chrono::milliseconds between_;
  int64_t waits_ = 0;
};

/// ENOSPC, EDQUOT.
bool IsLackOfRoom(int error);

}  // namespace leadline::trainer
