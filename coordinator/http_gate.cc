#include "coordinator/http_gate.h"

#include <string>

namespace leadline {

http::Gate MakeGate(access::Door& door, access::Entrance entrance) {
  return [&door, entrance](const http::Request& request,
                           const http::Route& route) {
    const std::string call = "GET " + route.path;
    const absl::Status status =
        door.Admit({entrance, call, request.authorization, false}).status();
    if (status.ok()) return http::Verdict::kAllowed;
    if (absl::IsUnauthenticated(status)) {
      return http::Verdict::kUnauthenticated;
    }
    return absl::IsResourceExhausted(status) ? http::Verdict::kTooMany
                                             : http::Verdict::kForbidden;
  };
}

}  // namespace leadline
