// Certificates and keys as they lie in files, checked before anybody relies on
// them.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include <absl/status/statusor.h>
#include <openssl/x509.h>

namespace leadline::tls {

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

/// The certificates of a PEM text, in order.
std::vector<Certificate> ParseCertificates(const std::string& pem);

/// "expired on 2026-11-29", "is not valid before 2026-11-29"; empty while it
/// is valid.
std::string WhyNotValidNow(const X509& certificate);

/// The host names and addresses it is for: "a.example, 10.0.0.1".
std::string HostsOf(const X509& certificate);

/// Reads the authorities that peers are checked by. InvalidArgument if the file
/// cannot be read or holds no certificate.
absl::StatusOr<std::string> ReadAuthorities(const std::string& path);

struct Identity {
  std::string certificate;  // PEM, with what leads to its authority
  std::string key;          // PEM
};

/// Reads a certificate and its key. InvalidArgument, saying which file and what
/// to do: unreadable, a key that others may read or that wants a password, a
/// certificate that is not valid now or of another key.
absl::StatusOr<Identity> ReadIdentity(const std::string& certificate_path,
                                      const std::string& key_path);

}  // namespace leadline::tls
