#include <gtest/gtest.h>

#include "storage/records.h"

namespace leadline::storage {
namespace {

std::string At(int64_t microseconds) {
  return ToText(WallTime(std::chrono::microseconds(microseconds)));
}

TEST(WallTime, IsUtcTextWithAZ) {
  EXPECT_EQ(At(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(At(1'764'428'645'999'999), "2025-11-29T15:04:05Z");
  EXPECT_EQ(At(951'782'400'000'000), "2000-02-29T00:00:00Z");
}

}  // namespace
}  // namespace leadline::storage
