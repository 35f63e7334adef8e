// The certificate that is served, once it lies otherwise in its files.

#pragma once

#include <chrono>
#include <string>

#include "common/log.h"
#include "tls/server.h"

namespace leadline {

/// Tells the log when files of TLS are renewed, and while they cannot be used:
/// gRPC reads them too, and says nothing of it. Owned by one thread.
class CertificateWatch {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  /// Of files that can be used; none: it sees nothing. `log` must outlive it.
  CertificateWatch(tls::ServerFiles files, Log& log);

  /// Looks at them, at most every `look_again`.
  void Look(SteadyTime now);

 private:
  tls::ServerFiles files_;
  Log& log_;
  std::string certificate_;  // the one that was seen last, PEM
  std::string wrong_;        // what was told of it last
  SteadyTime again_;
};

}  // namespace leadline
