#include "worker/trainer/room_wait.h"

#include <cerrno>
#include <iostream>
#include <system_error>
#include <thread>

namespace leadline::trainer {

bool IsLackOfRoom(int error) { return error == ENOSPC || error == EDQUOT; }

RoomWait::RoomWait(RoomWait&& other) noexcept
    : control_(other.control_),
      what_(std::move(other.what_)),
      where_(std::move(other.where_)),
      between_(other.between_),
      waits_(std::exchange(other.waits_, 0)) {}

RoomWait& RoomWait::operator=(RoomWait&& other) noexcept {
  std::swap(control_, other.control_);
  std::swap(what_, other.what_);
  std::swap(where_, other.where_);
  std::swap(between_, other.between_);
  std::swap(waits_, other.waits_);
  return *this;
}

bool RoomWait::After(int error) {
  if (!IsLackOfRoom(error)) return false;
  std::error_code unknown;
  const auto space = std::filesystem::space(where_, unknown);
  const std::string message =
      "waiting for room for " + what_ + " in " + where_.string() +
      (unknown ? ""
               : ": " + std::to_string(space.available) + " bytes are free");
  control_->WaitFor(what_, message);
  if (waits_++ == 0) std::cerr << message << '\n';
  std::this_thread::sleep_for(between_);
  return true;
}

void RoomWait::GoOn() {
  if (waits_ == 0) return;
  waits_ = 0;
  control_->WaitFor(what_, {});
  // What could not be written before has silenced it.
  std::cerr.clear();
  std::cerr << "there is room for " << what_ << " again\n";
}

}  // namespace leadline::trainer
