#include "tls/token.h"

#include <cstdlib>
#include <utility>

#include "tls/private_file.h"

namespace leadline::tls {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

TokenSource FindToken(const std::string& named_file) {
  if (!named_file.empty()) return {"", named_file};
  if (std::string token = Variable(kTokenVariable); !token.empty()) {
    return {std::move(token), ""};
  }
  return {"", Variable(kTokenFileVariable)};
}

absl::StatusOr<std::string> ReadToken(const TokenSource& source) {
  if (source.file.empty()) return source.token;
  return ReadSecretWord("the token", source.file);
}

}  // namespace leadline::tls
