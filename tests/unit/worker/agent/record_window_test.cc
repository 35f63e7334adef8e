#include "worker/agent/record_window.h"

#include <gtest/gtest.h>

namespace leadline::agent {
namespace {

TEST(RecordWindow, StartsAtTheFirstRecord) {
  const RecordWindow window;
  EXPECT_EQ(window.next(), 1);
  EXPECT_EQ(window.acknowledged(), 0);
  EXPECT_TRUE(window.HasRoom());
}

TEST(RecordWindow, HasNoRoomUntilSomeIsAcknowledged) {
  RecordWindow window;
  window.Send(10, RecordWindow::kMostInFlightBytes);
  EXPECT_FALSE(window.HasRoom());
  window.Acknowledge(9);
  EXPECT_FALSE(window.HasRoom());
  window.Acknowledge(10);
  EXPECT_TRUE(window.HasRoom());
}

TEST(RecordWindow, IgnoresAcknowledgementsOfTheFutureAndThePast) {
  RecordWindow window;
  window.Send(10, 100);
  window.Acknowledge(11);
  EXPECT_EQ(window.acknowledged(), 0);
  window.Acknowledge(10);
  window.Acknowledge(3);
  window.Acknowledge(-5);
  EXPECT_EQ(window.acknowledged(), 10);
}

TEST(RecordWindow, RestartsFromWhatIsOnDisk) {
  RecordWindow window;
  window.Send(10, RecordWindow::kMostInFlightBytes);
  window.Acknowledge(4);
  window.Restart(4);
  EXPECT_EQ(window.next(), 5);
  EXPECT_TRUE(window.HasRoom());
}

}  // namespace
}  // namespace leadline::agent
