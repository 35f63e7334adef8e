#include "coordinator/certificate_watch.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/integration/coordinator/coordinator_world.h"
#include "tests/support/kept_log.h"
#include "tests/support/test_authority.h"

namespace leadline {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CertificateWatchTest : public ::testing::Test {
 protected:
  void LookLater() { watch_.Look(now_ += std::chrono::seconds(10)); }
  void Replace(const std::string& file, const std::string& by) {
    fs::rename(by, file);
  }

  TemporaryFolder folder_;
  test::KeptLog log_;
  test::TestAuthority authority_{folder_.path(), "authority"};
  const test::CertificateFiles files_ = authority_.Make("server");
  CertificateWatch watch_{{files_.certificate, files_.key, ""}, log_};
  CertificateWatch::SteadyTime now_;
};

TEST_F(CertificateWatchTest, SaysNothingWhileNothingChanges) {
  LookLater();
  LookLater();
  EXPECT_THAT(log_.lines(), IsEmpty());
  CertificateWatch none({}, log_);
  none.Look(now_);
  EXPECT_THAT(log_.lines(), IsEmpty());
}

TEST_F(CertificateWatchTest, TellsOnceWhatCannotBeUsedAndThatItIsMended) {
  const auto renewed = authority_.Make("renewed");
  Replace(files_.certificate, renewed.certificate);
  LookLater();
  LookLater();
  ASSERT_EQ(log_.lines().size(), 1U);
  EXPECT_EQ(log_.Of("certificate_unusable").front().level, LogLevel::kError);
  EXPECT_THAT(log_.lines().front(), HasSubstr(files_.certificate));
  Replace(files_.key, renewed.key);
  LookLater();
  LookLater();
  EXPECT_THAT(log_.lines(),
              ElementsAre(HasSubstr("certificate_unusable"),
                          "certificate_renewed file=" + files_.certificate));
}

TEST_F(CertificateWatchTest, TellsEachReasonByItself) {
  chmod(files_.key.c_str(), 0644);
  LookLater();
  fs::remove(files_.key);
  LookLater();
  const auto expired = authority_.Make("expired", {.until_s = -60});
  Replace(files_.certificate, expired.certificate);
  Replace(files_.key, expired.key);
  LookLater();
  EXPECT_THAT(log_.lines(),
              ElementsAre(HasSubstr("chmod"), HasSubstr("No such file"),
                          HasSubstr("expired on")));
}

TEST_F(CertificateWatchTest, LooksNoMoreOftenThanItIsTold) {
  LookLater();
  fs::remove(files_.key);
  watch_.Look(now_ + std::chrono::seconds(9));
  EXPECT_THAT(log_.lines(), IsEmpty());
  watch_.Look(now_ + std::chrono::seconds(10));
  EXPECT_EQ(log_.lines().size(), 1U);
}

}  // namespace
}  // namespace leadline
