#include "tls/pem_files.h"

#include <cstdio>
#include <ctime>

#include <absl/cleanup/cleanup.h>
#include <absl/status/status.h>
#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "tls/private_file.h"

namespace leadline::tls {
namespace {

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

Bio Open(const std::string& text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())),
          &BIO_free};
}

std::string Day(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return "an unknown day";
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
  return text;
}

std::string Address(const ASN1_OCTET_STRING& bytes) {
  char text[INET6_ADDRSTRLEN] = "?";
  const int family = bytes.length == 4 ? AF_INET : AF_INET6;
  if (bytes.length == 4 || bytes.length == 16) {
    inet_ntop(family, bytes.data, text, sizeof text);
  }
  return text;
}

absl::Status Refused(const std::string& what, const std::string& path,
                     const std::string& why) {
  ERR_clear_error();
  return absl::InvalidArgumentError("cannot use " + path + " as " + what +
                                    ": " + why);
}

/// Asked for the password of a key, where OpenSSL would ask a terminal.
int NoPassword(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return 0;
}

absl::StatusOr<Key> ParseKey(const std::string& path, const std::string& pem) {
  bool asked = false;
  Key key(
      PEM_read_bio_PrivateKey(Open(pem).get(), nullptr, &NoPassword, &asked),
      &EVP_PKEY_free);
  if (asked) return Refused("the key", path, "it wants a password");
  if (!key) return Refused("the key", path, "it holds no private key (PEM)");
  return key;
}

}  // namespace

std::vector<Certificate> ParseCertificates(const std::string& pem) {
  std::vector<Certificate> all;
  const Bio text = Open(pem);
  while (X509* one = PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr)) {
    all.emplace_back(one, &X509_free);
  }
  ERR_clear_error();  // how the end is told
  return all;
}

std::string WhyNotValidNow(const X509& certificate) {
  const ASN1_TIME* from = X509_get0_notBefore(&certificate);
  const ASN1_TIME* until = X509_get0_notAfter(&certificate);
  if (X509_cmp_current_time(until) < 0) return "expired on " + Day(until);
  if (X509_cmp_current_time(from) > 0) {
    return "is not valid before " + Day(from);
  }
  return "";
}

std::string HostsOf(const X509& certificate) {
  auto* names = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr));
  const absl::Cleanup free_names = [names] { GENERAL_NAMES_free(names); };
  std::string text;
  for (int i = 0; i < sk_GENERAL_NAME_num(names); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names, i);
    if (name->type != GEN_DNS && name->type != GEN_IPADD) continue;
    if (!text.empty()) text += ", ";
    text += name->type == GEN_IPADD
                ? Address(*name->d.iPAddress)
                : std::string(
                      reinterpret_cast<const char*>(
                          ASN1_STRING_get0_data(name->d.dNSName)),
                      static_cast<size_t>(ASN1_STRING_length(name->d.dNSName)));
  }
  return text.empty() ? "no host" : text;
}

absl::StatusOr<std::string> ReadAuthorities(const std::string& path) {
  const std::string what = "the authority's certificate";
  auto pem = ReadSmallFile(what, path, Privacy::kAnybody);
  if (!pem.ok()) return pem.status();
  const auto certificates = ParseCertificates(*pem);
  if (certificates.empty()) {
    return Refused(what, path, "it holds no certificate (PEM)");
  }
  std::string why;
  for (const Certificate& certificate : certificates) {
    why = WhyNotValidNow(*certificate);
    if (why.empty()) return pem;
  }
  return Refused(what, path, "it " + why);
}

absl::StatusOr<Identity> ReadIdentity(const std::string& certificate_path,
                                      const std::string& key_path) {
  const std::string what = "the certificate";
  auto pem = ReadSmallFile(what, certificate_path, Privacy::kAnybody);
  if (!pem.ok()) return pem.status();
  auto key_pem = ReadSmallFile("the key", key_path, Privacy::kOwnerAndGroup);
  if (!key_pem.ok()) return key_pem.status();
  const auto certificates = ParseCertificates(*pem);
  if (certificates.empty()) {
    return Refused(what, certificate_path, "it holds no certificate (PEM)");
  }
  const std::string why = WhyNotValidNow(*certificates.front());
  if (!why.empty()) {
    return Refused(what, certificate_path, "it " + why + "; make a new one");
  }
  const auto key = ParseKey(key_path, *key_pem);
  if (!key.ok()) return key.status();
  if (X509_check_private_key(certificates.front().get(), key->get()) != 1) {
    return Refused("the key", key_path,
                   "it is not that of the certificate " + certificate_path);
  }
  return Identity{*std::move(pem), *std::move(key_pem)};
}

}  // namespace leadline::tls
