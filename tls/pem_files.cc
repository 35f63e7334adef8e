#include "tls/pem_files.h"

#include <cstdio>
#include <ctime>
#include <utility>

#include <absl/cleanup/cleanup.h>
#include <absl/status/status.h>
#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "tls/private_file.h"

namespace leadline::tls {
namespace {

constexpr char kCertificate[] = "the certificate";
constexpr char kKey[] = "the key";

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
  if (asked) return Refused(kKey, path, "it wants a password");
  if (!key) return Refused(kKey, path, "it holds no private key (PEM)");
  return key;
}

/// By the marks of PEM, whole or not.
bool HoldsCertificate(const std::string& text) {
  return text.find("-----BEGIN CERTIFICATE-----") != std::string::npos;
}
bool HoldsKey(const std::string& text) {
  return text.find("PRIVATE KEY-----") != std::string::npos;
}

absl::Status NoCertificate(const std::string& what, const std::string& path,
                           const std::string& text) {
  return Refused(what, path,
                 HoldsKey(text) ? "it holds a private key and no certificate"
                                : "it holds no certificate (PEM)");
}

/// Whether each of the two files is one of its kind, whatever else is wrong.
absl::Status CheckKinds(const std::string& certificate_path,
                        const std::string& certificate,
                        const std::string& key_path, const std::string& key) {
  const bool key_is_certificate = HoldsCertificate(key) && !HoldsKey(key);
  if (ParseCertificates(certificate).empty()) {
    if (!HoldsKey(certificate) || !key_is_certificate) {
      return NoCertificate(kCertificate, certificate_path, certificate);
    }
    return Refused(kCertificate, certificate_path,
                   "it holds a private key, and " + key_path +
                       " a certificate; swap the two");
  }
  if (HoldsKey(key)) return absl::OkStatus();
  return Refused(kKey, key_path,
                 key_is_certificate
                     ? "it holds a certificate and no private key"
                     : "it holds no private key (PEM)");
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
  auto file = ReadSmallFile(what, path);
  if (!file.ok()) return file.status();
  const auto certificates = ParseCertificates(file->text);
  if (certificates.empty()) return NoCertificate(what, path, file->text);
  std::string why;
  for (const Certificate& certificate : certificates) {
    why = WhyNotValidNow(*certificate);
    if (why.empty()) return std::move(file->text);
  }
  return Refused(what, path, "it " + why);
}

absl::StatusOr<Identity> ReadIdentity(const std::string& certificate_path,
                                      const std::string& key_path) {
  auto certificate = ReadSmallFile(kCertificate, certificate_path);
  if (!certificate.ok()) return certificate.status();
  auto key = ReadSmallFile(kKey, key_path);
  if (!key.ok()) return key.status();
  absl::Status fits =
      CheckKinds(certificate_path, certificate->text, key_path, key->text);
  if (fits.ok()) fits = CheckPrivate(kKey, key_path, *key);
  if (!fits.ok()) return fits;
  const auto certificates = ParseCertificates(certificate->text);
  const std::string why = WhyNotValidNow(*certificates.front());
  if (!why.empty()) {
    return Refused(kCertificate, certificate_path,
                   "it " + why + "; make a new one");
  }
  const auto parsed = ParseKey(key_path, key->text);
  if (!parsed.ok()) return parsed.status();
  if (X509_check_private_key(certificates.front().get(), parsed->get()) != 1) {
    return Refused(kKey, key_path,
                   "it is not that of the certificate " + certificate_path);
  }
  return Identity{std::move(certificate->text), std::move(key->text)};
}

}  // namespace leadline::tls
