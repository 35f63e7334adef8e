#include "coordinator/http/tls_context.h"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include <boost/asio/ssl/context.hpp>
#include <gtest/gtest.h>

#include "tests/support/test_authority.h"

namespace leadline::http {
namespace {

namespace fs = std::filesystem;

class TlsContextsTest : public testing::Test {
 protected:
  TlsContextsTest() {
    std::string pattern = (fs::temp_directory_path() / "tls-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    authority_.emplace(folder_, "authority");
    const auto made = authority_->Make("server");
    files_.certificate = made.certificate;
    files_.key = made.key;
  }
  ~TlsContextsTest() override { fs::remove_all(folder_); }

  fs::path folder_;
  std::optional<test::TestAuthority> authority_;
  tls::ServerFiles files_;
};

TEST_F(TlsContextsTest, RenewedFilesCountOnceTheyFitEachOther) {
  auto contexts = TlsContexts::Open(files_);
  ASSERT_TRUE(contexts.ok()) << contexts.status();
  auto now = std::chrono::steady_clock::now();
  const auto later = [&] { return now += files_.look_again; };
  const auto first = contexts->Current(later());
  EXPECT_EQ(contexts->Current(later()), first);
  const auto renewed = authority_->Make("renewed");
  fs::rename(renewed.certificate, files_.certificate);
  EXPECT_EQ(contexts->Current(later()), first) << "its key has not come yet";
  fs::rename(renewed.key, files_.key);
  EXPECT_EQ(contexts->Current(now), first) << "looked at a moment ago";
  const auto second = contexts->Current(later());
  EXPECT_NE(second, first);
  EXPECT_EQ(contexts->Current(later()), second);
}

TEST_F(TlsContextsTest, FilesThatGoAwayLeaveWhatWasRead) {
  auto contexts = TlsContexts::Open(files_);
  ASSERT_TRUE(contexts.ok()) << contexts.status();
  const auto now = std::chrono::steady_clock::now();
  const auto first = contexts->Current(now);
  fs::remove(files_.key);
  EXPECT_EQ(contexts->Current(now + files_.look_again), first);
  EXPECT_FALSE(TlsContexts::Open(files_).ok());
}

}  // namespace
}  // namespace leadline::http
