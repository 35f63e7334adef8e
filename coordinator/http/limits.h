// What one client of the HTTP server may take: connections, bytes, time.

#pragma once

#include <chrono>
#include <cstddef>

namespace leadline::http {

struct Limits {
  size_t connections = 64;  // at once; those beyond are told 503
  size_t header_bytes = 8192;
  size_t body_bytes = 4096;  // no route reads one
  /// From the connection to the last byte of the first request.
  std::chrono::milliseconds request{10'000};
  /// From an answer to the last byte of the next request. Not longer than the
  /// first: who holds all connections and asks nothing keeps probes out.
  std::chrono::milliseconds next_request{10'000};
  /// For taking an answer.
  std::chrono::milliseconds answer{10'000};
};

}  // namespace leadline::http
