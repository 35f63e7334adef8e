#include "worker/trainer/room_wait.h"

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "worker/trainer/event_writer.h"

namespace leadline::trainer {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::chrono::milliseconds kAtOnce{0};

/// What /dev/full is open as in this process is `other` from now on.
void ReplaceFullDisk(int other) {
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path(), gone) == "/dev/full") {
      dup2(other, std::stoi(entry.path().filename()));
    }
  }
  close(other);
}

TEST(RoomWait, SaysWhatItWaitsForUntilItGoesOn) {
  RunControl control;
  RoomWait wait(control, "the events", "/", kAtOnce);
  EXPECT_FALSE(wait.After(EIO));
  EXPECT_THAT(control.Waits(), IsEmpty());
  EXPECT_TRUE(wait.After(ENOSPC));
  EXPECT_TRUE(wait.After(EDQUOT));
  EXPECT_THAT(control.Waits(),
              HasSubstr("waiting for room for the events in /"));
  EXPECT_THAT(control.Waits(), HasSubstr("bytes are free"));
  wait.GoOn();
  EXPECT_THAT(control.Waits(), IsEmpty());
}

TEST(RoomWait, WaitsNoMoreOnceItsOwnerHasGone) {
  RunControl control;
  {
    RoomWait first(control, "the events", "/", kAtOnce);
    EXPECT_TRUE(first.After(ENOSPC));
    const RoomWait second = std::move(first);
    EXPECT_FALSE(control.Waits().empty());
  }
  EXPECT_THAT(control.Waits(), IsEmpty());
}

TEST(RoomWait, AnEventIsTriedAgainUntilThereIsRoom) {
  std::string pattern = testing::TempDir() + "room_XXXXXX";
  const std::filesystem::path folder = mkdtemp(pattern.data());
  std::filesystem::create_symlink("/dev/full", folder / "events.jsonl");
  RunControl control;
  EventWriter events = EventWriter::InFolder(folder);
  EXPECT_THROW(events.Write(StepEvent{}), std::system_error);
  events.WaitWith({control, "the events", folder, kAtOnce});
  std::thread writer([&] { events.Write(StepEvent{}); });
  while (control.Waits().empty()) std::this_thread::yield();
  // From now on it is a file that takes everything.
  ReplaceFullDisk(open("/dev/null", O_WRONLY));
  writer.join();
  EXPECT_THAT(control.Waits(), IsEmpty());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace leadline::trainer
