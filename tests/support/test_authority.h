// Certificates made when a test runs: none is ever committed.

#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <openssl/evp.h>
#include <openssl/x509.h>

namespace leadline::test {

/// Of a certificate to make.
struct CertificateSpec {
  std::vector<std::string> hosts = {"IP:127.0.0.1", "DNS:localhost"};
  int64_t from_s = -3600;  // seconds from now
  int64_t until_s = 3600;
};

/// A certificate in PEM files, its key readable by its owner alone.
struct CertificateFiles {
  std::string certificate;
  std::string key;
};

/// An authority of its own name and key. Throws std::runtime_error where
/// OpenSSL or the disk refuses.
class TestAuthority {
 public:
  /// Its files lie in `folder`, named after `name`.
  TestAuthority(std::filesystem::path folder, std::string name);

  /// The file with its certificate.
  const std::string& file() const { return file_; }

  CertificateFiles Make(const std::string& name,
                        const CertificateSpec& spec = {});

 private:
  using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
  using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

  std::filesystem::path folder_;
  std::string file_;
  Key key_;
  Certificate certificate_;
};

}  // namespace leadline::test
