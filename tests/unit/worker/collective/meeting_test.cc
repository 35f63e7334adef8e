#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/worker/collective/ring_world.h"

namespace leadline::collective {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;

// A connection to a rank that says `bytes` and stays.
class Stranger {
 public:
  Stranger(const std::string& address, const std::string& bytes)
      : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port =
        htons(static_cast<uint16_t>(std::stoi(SplitAddress(address).second)));
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof(to)),
              0);
    EXPECT_EQ(send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  ~Stranger() { close(socket_); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

 private:
  int socket_;
};

TEST(MeetingTest, AnAbsentRankEndsTheSetUpWithItsNumber) {
  RingWorld world(3);
  for (const int64_t rank : {0, 1}) {
    world.options(rank).limit = milliseconds(1000);
  }
  world.Join({2});
  EXPECT_THAT(world.errors()[0], AllOf(HasSubstr("rank 2 ("),
                                       HasSubstr("did not come within 1 s")));
  EXPECT_THAT(world.errors()[1], HasSubstr("rank 2 ("));
  EXPECT_THAT(world.errors()[1], Not(HasSubstr("rank 0")));
}

TEST(MeetingTest, ARankThatNobodyIsAtIsDialledUntilTheEnd) {
  RingWorld world(2);
  world.set_address(0, "127.0.0.1:1");
  world.options(1).limit = milliseconds(300);
  world.Join({0});
  EXPECT_THAT(world.errors()[1], HasSubstr("Connection refused"));
}

TEST(MeetingTest, DifferentSettingsEndItOnBothSidesAndAreNamed) {
  RingWorld world(2);
  world.options(1).introduction.settings_hash = "settings-b";
  world.Join();
  for (const std::string& error : world.errors()) {
    EXPECT_THAT(error, AllOf(HasSubstr("settings-a"), HasSubstr("settings-b")));
  }
}

TEST(MeetingTest, DifferentDataAndSizesEndIt) {
  RingWorld data(2);
  data.options(0).introduction.data_hash = "data-b";
  data.Join();
  EXPECT_THAT(data.errors(), Each(HasSubstr("data hash")));
}

TEST(MeetingTest, ARankAtTheAddressOfAnotherIsNamed) {
  RingWorld world(3);
  world.set_address(0, world.address(1));
  world.options(1).limit = milliseconds(300);
  world.Join({0});
  EXPECT_THAT(world.errors()[2],
              HasSubstr("is rank 1, rank 0 was expected there"));
}

TEST(MeetingTest, AnotherSecretIsDroppedAndTheRankStaysAbsent) {
  RingWorld world(2);
  world.options(1).secret = "another";
  for (const int64_t rank : {0, 1}) {
    world.options(rank).limit = milliseconds(500);
  }
  world.Join();
  EXPECT_THAT(world.errors()[0],
              AllOf(HasSubstr("rank 1 ("), HasSubstr("another secret")));
  EXPECT_THAT(world.errors()[1], HasSubstr("rank 0 ("));
}

TEST(MeetingTest, StrangersAreDroppedAndTheRanksMeet) {
  RingWorld world(3);
  const std::string hello("LEADRANK0123456789abcdef");
  std::vector<std::unique_ptr<Stranger>> strangers;
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\nHost: leadline\r\n\r\n"), std::string(),
        hello, hello + std::string(4, '\xff'),
        hello + std::string("\x10\0\0\0", 4) + std::string(48, 'x'),
        std::string(100'000, '\0')}) {
    strangers.push_back(std::make_unique<Stranger>(world.address(0), bytes));
  }
  const auto rings = world.Join();
  EXPECT_THAT(world.errors(), Each(IsEmpty()));
  EXPECT_THAT(OnAllRanks(3,
                         [&](int64_t rank) {
                           Ring& ring = *rings[rank];
                           ring.Wait(ring.Start({.task = Task::kMeet}));
                         }),
              Each(IsEmpty()));
}

TEST(MeetingTest, WhoWaitsIsAskedWhetherItShallStop) {
  RingWorld world(2);
  world.options(0).breathe = [] { throw std::runtime_error("asked to stop"); };
  world.Join({1});
  EXPECT_EQ(world.errors()[0], "asked to stop");
}

TEST(MeetingTest, APortThatIsTakenIsNamed) {
  const Meeting first("127.0.0.1:0");
  EXPECT_THROW(Meeting second(first.address()), SetUpError);
}

}  // namespace
}  // namespace leadline::collective
