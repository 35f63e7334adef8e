#include "cli/access.h"

#include <cstdlib>

#include "cli/exit_code.h"
#include "tls/client.h"
#include "tls/token.h"

namespace leadline::cli {
namespace {

void Put(const char* name, const std::string& value) {
  if (!value.empty()) setenv(name, value.c_str(), 1);
}

}  // namespace

void PutIntoEnvironment(const AccessOptions& options) {
  // A pair from two sources would be none.
  if (!options.files.certificate.empty() || !options.files.key.empty()) {
    unsetenv(tls::kCertificateVariable);
    unsetenv(tls::kKeyVariable);
  }
  Put(tls::kCaVariable, options.files.ca);
  Put(tls::kCertificateVariable, options.files.certificate);
  Put(tls::kKeyVariable, options.files.key);
  if (options.token_file.empty()) return;
  unsetenv(tls::kTokenVariable);
  Put(tls::kTokenFileVariable, options.token_file);
}

absl::StatusOr<Access> ReadAccess(const std::string& address) {
  Access access;
  if (address.starts_with("unix:")) return access;
  access.files = tls::WithVariables({});
  const tls::TokenSource source = tls::FindToken("");
  auto token = tls::ReadToken(source);
  if (!token.ok()) return At(token.status(), source.file);
  access.token = *std::move(token);
  return access;
}

}  // namespace leadline::cli
