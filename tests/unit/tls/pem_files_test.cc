#include "tls/pem_files.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/stat.h>

#include "tests/support/store_world.h"
#include "tests/support/test_authority.h"
#include "tls/client.h"
#include "tls/server.h"

namespace leadline::tls {
namespace {

using testing::HasSubstr;

class PemFilesTest : public ::testing::Test {
 protected:
  std::string WhyNot(const std::string& certificate, const std::string& key) {
    const auto identity = ReadIdentity(certificate, key);
    EXPECT_TRUE(absl::IsInvalidArgument(identity.status()))
        << identity.status();
    return std::string(identity.status().message());
  }

  test::TemporaryFolder folder_;
  test::TestAuthority authority_{folder_.path(), "authority"};
};

TEST_F(PemFilesTest, ACertificateAndItsKeyAreRead) {
  const auto files = authority_.Make("server");
  const auto identity = ReadIdentity(files.certificate, files.key);
  ASSERT_TRUE(identity.ok()) << identity.status();
  EXPECT_THAT(identity->certificate, HasSubstr("BEGIN CERTIFICATE"));
  EXPECT_THAT(identity->key, HasSubstr("PRIVATE KEY"));
  EXPECT_TRUE(ReadAuthorities(authority_.file()).ok());
  const auto parsed = ParseCertificates(identity->certificate);
  ASSERT_EQ(parsed.size(), 1U);
  EXPECT_EQ(HostsOf(*parsed.front()), "127.0.0.1, localhost");
}

TEST_F(PemFilesTest, CertificatesThatAreNotValidNowAreRefusedWithTheDay) {
  const auto old = authority_.Make("old", {.from_s = -7200, .until_s = -3600});
  EXPECT_THAT(WhyNot(old.certificate, old.key), HasSubstr("expired on 2"));
  const auto early =
      authority_.Make("early", {.from_s = 3600, .until_s = 7200});
  EXPECT_THAT(WhyNot(early.certificate, early.key),
              HasSubstr("not valid before 2"));
}

TEST_F(PemFilesTest, KeysThatDoNotServeAreRefusedByName) {
  const auto files = authority_.Make("server");
  const auto other = authority_.Make("other");
  EXPECT_THAT(WhyNot(files.certificate, other.key),
              HasSubstr("not that of the certificate"));
  EXPECT_THAT(WhyNot(files.certificate, files.certificate),
              HasSubstr("no private key"));
  EXPECT_THAT(WhyNot(files.key, files.key), HasSubstr("no certificate"));
  chmod(files.key.c_str(), 0644);
  EXPECT_THAT(WhyNot(files.certificate, files.key),
              HasSubstr("chmod 600 " + files.key));
  const std::string none = (folder_.path() / "none.key").string();
  EXPECT_THAT(WhyNot(files.certificate, none), HasSubstr(none));
}

TEST_F(PemFilesTest, WhatAFileHoldsIsSaidBeforeItsModeIs) {
  const auto files = authority_.Make("server");
  chmod(files.certificate.c_str(), 0644);
  const std::string swapped = WhyNot(files.key, files.certificate);
  EXPECT_THAT(swapped, HasSubstr("cannot use " + files.key +
                                 " as the certificate: it holds a private "
                                 "key, and " +
                                 files.certificate + " a certificate; swap"));
  EXPECT_THAT(swapped, testing::Not(HasSubstr("chmod")));
  EXPECT_THAT(WhyNot(files.certificate, files.certificate),
              HasSubstr("holds a certificate and no private key"));
  const std::string authority(ReadAuthorities(files.key).status().message());
  EXPECT_THAT(authority, HasSubstr("holds a private key and no certificate"));
}

TEST_F(PemFilesTest, AKeyWithAPasswordAsksNoTerminal) {
  const auto files = authority_.Make("server");
  const std::string path = (folder_.path() / "locked.key").string();
  EVP_PKEY* key = EVP_EC_gen("P-256");
  std::FILE* file = std::fopen(path.c_str(), "w");
  chmod(path.c_str(), 0600);
  PEM_write_PKCS8PrivateKey(file, key, EVP_aes_128_cbc(), "secret", 6, nullptr,
                            nullptr);
  std::fclose(file);
  EVP_PKEY_free(key);
  EXPECT_THAT(WhyNot(files.certificate, path), HasSubstr("password"));
}

TEST_F(PemFilesTest, HalfAPairIsRefusedOnBothEnds) {
  const auto files = authority_.Make("server");
  EXPECT_THAT(
      std::string(
          ServerCredentials({files.certificate, "", ""}).status().message()),
      HasSubstr("--tls-key"));
  EXPECT_THAT(
      std::string(
          ServerCredentials({"", "", authority_.file()}).status().message()),
      HasSubstr("--tls-cert"));
  EXPECT_THAT(
      std::string(ClientCredentials("a.example:1", {"", files.certificate, ""})
                      .status()
                      .message()),
      HasSubstr("--tls-key"));
  EXPECT_THAT(
      std::string(ClientCredentials("a.example:1",
                                    {(folder_.path() / "no").string(), "", ""})
                      .status()
                      .message()),
      HasSubstr("No such file"));
}

TEST_F(PemFilesTest, RubbishIsNoCertificate) {
  const std::string path = (folder_.path() / "rubbish.pem").string();
  for (const std::string& text :
       {std::string(), std::string("dear diary"),
        std::string("-----BEGIN CERTIFICATE-----\nAAAA\n"),
        std::string(1 << 19, '-')}) {
    std::ofstream(path, std::ios::trunc) << text;
    EXPECT_THAT(std::string(ReadAuthorities(path).status().message()),
                HasSubstr("no certificate"));
  }
}

}  // namespace
}  // namespace leadline::tls
