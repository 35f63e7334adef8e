#include "tests/support/test_authority.h"

#include <cstdio>
#include <stdexcept>

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

namespace leadline::test {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

void Check(bool went_well, const std::string& what) {
  if (!went_well) throw std::runtime_error("cannot make " + what);
}

Key MakeKey() { return {EVP_EC_gen("P-256"), &EVP_PKEY_free}; }

void AddExtension(X509* certificate, X509* issuer, int kind,
                  const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension =
      X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  Check(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1,
        "an extension");
  X509_EXTENSION_free(extension);
}

Certificate MakeCertificate(EVP_PKEY* key, const std::string& name,
                            int64_t from_s, int64_t until_s) {
  Certificate made(X509_new(), &X509_free);
  X509_set_version(made.get(), 2);
  unsigned char serial[8];
  RAND_bytes(serial, sizeof serial);
  serial[0] &= 0x7f;
  BIGNUM* number = BN_bin2bn(serial, sizeof serial, nullptr);
  BN_to_ASN1_INTEGER(number, X509_get_serialNumber(made.get()));
  BN_free(number);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), from_s);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), until_s);
  X509_set_pubkey(made.get(), key);
  X509_NAME_add_entry_by_txt(
      X509_get_subject_name(made.get()), "CN", MBSTRING_UTF8,
      reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  return made;
}

void Sign(X509* certificate, X509* issuer, EVP_PKEY* key) {
  X509_set_issuer_name(certificate, X509_get_subject_name(issuer));
  Check(X509_sign(certificate, key, EVP_sha256()) > 0, "a signature");
}

template <typename Write>
void WriteFile(const std::string& path, const Write& write) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  Check(file != nullptr, path);
  chmod(path.c_str(), 0600);
  Check(write(file) == 1, path);
  std::fclose(file);
}

}  // namespace

TestAuthority::TestAuthority(std::filesystem::path folder, std::string name)
    : folder_(std::move(folder)),
      file_((folder_ / (name + ".pem")).string()),
      key_(MakeKey()),
      certificate_(MakeCertificate(key_.get(), name, -7200, 7200)) {
  AddExtension(certificate_.get(), certificate_.get(), NID_basic_constraints,
               "critical,CA:TRUE");
  Sign(certificate_.get(), certificate_.get(), key_.get());
  WriteFile(file_, [&](std::FILE* file) {
    return PEM_write_X509(file, certificate_.get());
  });
}

CertificateFiles TestAuthority::Make(const std::string& name,
                                     const CertificateSpec& spec) {
  const Key key = MakeKey();
  const Certificate made =
      MakeCertificate(key.get(), name, spec.from_s, spec.until_s);
  std::string hosts;
  for (const std::string& host : spec.hosts) {
    hosts += (hosts.empty() ? "" : ",") + host;
  }
  AddExtension(made.get(), certificate_.get(), NID_subject_alt_name, hosts);
  Sign(made.get(), certificate_.get(), key_.get());
  CertificateFiles files{(folder_ / (name + ".pem")).string(),
                         (folder_ / (name + ".key")).string()};
  WriteFile(files.certificate,
            [&](std::FILE* file) { return PEM_write_X509(file, made.get()); });
  WriteFile(files.key, [&](std::FILE* file) {
    return PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr,
                                nullptr);
  });
  return files;
}

}  // namespace leadline::test
