// Servers and disks that do not do what they should.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "fetch_world.h"
#include "worker/dataset/data_error.h"

namespace leadline::dataset {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

class FetchFaultsTest : public FetchWorld {
 protected:
  /// Fails with that in its message, and leaves nothing that could be taken
  /// for the file.
  void ExpectRefused(const std::string& fault, const std::string& message) {
    EXPECT_THAT([&] { Fetch(fault); },
                ThrowsMessage<DataError>(
                    AllOf(HasSubstr(message), HasSubstr("By hand"))))
        << fault;
    EXPECT_FALSE(IsThere("text")) << fault;
  }
};

TEST_F(FetchFaultsTest, WrongHashIsDeletedAndNeverUsed) {
  ExpectRefused("flipped", "has hash sha256:");
  EXPECT_FALSE(std::filesystem::exists(part()));
  EXPECT_THAT(Requests(), SizeIs(1));
}

TEST_F(FetchFaultsTest, ShorterFileIsRefusedBeforeItIsRead) {
  ExpectRefused("shorter", "offers " + std::to_string(text_.size() - 1));
  EXPECT_FALSE(std::filesystem::exists(part()));
}

TEST_F(FetchFaultsTest, LongerFileIsRefusedBeforeItIsRead) {
  ExpectRefused("longer", "offers " + std::to_string(text_.size() + 1));
  EXPECT_FALSE(std::filesystem::exists(part()));
}

TEST_F(FetchFaultsTest, OtherSizeLeavesAnEarlierBeginningAlone) {
  EXPECT_THROW(Fetch("stuck"), DataError);
  ExpectRefused("longer", "offers");
  EXPECT_EQ(Contents(part()), text_.substr(0, 70'000));
}

TEST_F(FetchFaultsTest, ShorterFileWithoutALengthEnds) {
  ExpectRefused("shorter_unsaid", "ends too early");
}

TEST_F(FetchFaultsTest, EndlessAnswerIsCutAtTheSizeOfTheFile) {
  ExpectRefused("endless", "more than");
}

TEST_F(FetchFaultsTest, OtherRangeThanAskedForIsRefused) {
  EXPECT_THROW(Fetch("stuck"), DataError);
  ExpectRefused("other_range", "another range");
}

TEST_F(FetchFaultsTest, FileThatIsNotThereIsAskedForOnce) {
  ExpectRefused("missing", "404");
  EXPECT_THAT(Requests(), SizeIs(1));
}

TEST_F(FetchFaultsTest, RedirectsAreBoundedAndStayWithHttp) {
  ExpectRefused("circle", "redirects");
  EXPECT_THAT(Requests(), SizeIs(1 + options_.limits.http.redirects));
  ExpectRefused("to_file", "rotocol");
}

TEST_F(FetchFaultsTest, HeadWithoutAnEndIsRefused) {
  ExpectRefused("long_head", "head of the answer");
}

TEST_F(FetchFaultsTest, ServerThatFallsSilentIsGivenUp) {
  options_.limits.tries = 1;
  options_.limits.http.stall = std::chrono::seconds(1);
  ExpectRefused("silent", "");
}

TEST_F(FetchFaultsTest, LinkInThePlaceOfThePartIsNotFollowed) {
  std::filesystem::create_directories(options_.folder);
  std::ofstream(mine_.path() / "precious") << "precious";
  std::filesystem::create_symlink(mine_.path() / "precious", part());
  EXPECT_THROW(Fetch("plain"), std::system_error);
  EXPECT_EQ(Contents(mine_.path() / "precious"), "precious");
}

TEST_F(FetchFaultsTest, FileThatMayGrowNoFurtherIsADiskFault) {
  const pid_t child = FetchInChild("plain", [] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100'000, 100'000};
    setrlimit(RLIMIT_FSIZE, &limit);
  });
  EXPECT_EQ(WEXITSTATUS(StatusOf(child)), 2);
  EXPECT_THAT(Contents(mine_.path() / "fault"),
              AllOf(HasSubstr("cannot write"), HasSubstr("text.part")));
  EXPECT_FALSE(IsThere("text"));
  EXPECT_EQ(Contents(Fetch("plain")), text_);
  EXPECT_EQ(Requests().back(), "text 100000");
}

// A disk of that size, where the system lets us have one.
class SmallDisk {
 public:
  SmallDisk(std::filesystem::path path, const std::string& size)
      : path_(std::move(path)) {
    std::filesystem::create_directories(path_);
    is_there_ =
        mount("none", path_.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
  }
  ~SmallDisk() {
    if (is_there_) umount2(path_.c_str(), MNT_DETACH);
  }
  bool is_there() const { return is_there_; }

 private:
  std::filesystem::path path_;
  bool is_there_;
};

TEST_F(FetchFaultsTest, DiskWithoutRoomIsToldBeforeAnythingIsFetched) {
  const SmallDisk disk(options_.folder, "128k");
  if (!disk.is_there()) GTEST_SKIP() << "no right to mount a tmpfs";
  try {
    Fetch("plain");
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), ENOSPC);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("text needs"), HasSubstr("free"),
                                    HasSubstr(options_.folder.string())));
  }
  EXPECT_THAT(Requests(), SizeIs(0));
  EXPECT_FALSE(std::filesystem::exists(part()));
}

TEST_F(FetchFaultsTest, DiskThatFillsUpMeanwhileGivesOneMessageAndNoFile) {
  const SmallDisk disk(options_.folder, "512k");
  if (!disk.is_there()) GTEST_SKIP() << "no right to mount a tmpfs";
  bool filled = false;
  options_.tell = [&](const FetchProgress&) {
    if (std::exchange(filled, true)) return;
    std::ofstream other(options_.folder / "other", std::ios::binary);
    for (int i = 0; i < 128; ++i) other << std::string(4096, 'x');
  };
  try {
    Fetch("plain");
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), ENOSPC);
  }
  EXPECT_FALSE(IsThere("text"));
  std::filesystem::remove(options_.folder / "other");
  EXPECT_EQ(Contents(Fetch("plain")), text_);
}

}  // namespace
}  // namespace leadline::dataset
