// What is said of a handshake that failed, by whichever of those who look at it
// finds out: gRPC's own words, translated, or a handshake of ours. Private to
// tls.

#pragma once

namespace leadline::tls {

inline constexpr char kSpeaksNoTls[] = "the server speaks no TLS";
inline constexpr char kUnknownAuthority[] =
    "the server's certificate is of an authority that is not trusted here; "
    "name "
    "the right one with --tls-ca";

}  // namespace leadline::tls
