// Why a call did not get through, in words that need no knowledge of gRPC.

#pragma once

#include <string>
#include <string_view>

namespace leadline::tls {

/// What gRPC says of a call that is Unavailable, told for people: of dialling
/// what the system said, of a server of another protocol that it is one. What
/// it does not know stays as it is; so does what a server of ours says.
std::string TransportReason(std::string_view grpc_message);

}  // namespace leadline::tls
