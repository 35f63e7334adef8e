// One HTTP request for a range of a file, bounded in size, time and redirects.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace leadline::dataset {

struct HttpLimits {
  std::chrono::milliseconds connect{20'000};
  /// A transfer that stays below `least_bytes_per_second` for so long is cut.
  std::chrono::seconds stall{30};
  int64_t least_bytes_per_second = 1024;
  /// Of one request.
  std::chrono::seconds total{24 * 3600};
  int64_t redirects = 5;
};

/// What stands above the body of an answer.
struct HttpHead {
  int64_t status = 0;
  std::optional<int64_t> length{};  // of the body
  /// Of status 206: where the range begins and how long the whole file is.
  std::optional<int64_t> range_begin{};
  std::optional<int64_t> range_total{};
};

/// Takes the answer of a request that succeeded (2xx).
class HttpReceiver {
 public:
  virtual ~HttpReceiver() = default;
  /// Once, before the body. May throw to refuse it.
  virtual void Begin(const HttpHead& head) = 0;
  /// The body in pieces. May throw to end the transfer.
  virtual void Take(std::string_view bytes) = 0;
};

enum class HttpEnd {
  kDone,
  kCut,      // the next request may fare better
  kRefused,  // it will not
  kStopped,  // by the stop token
};

struct HttpOutcome {
  HttpEnd end = HttpEnd::kDone;
  int64_t status = 0;   // 0: there was no answer
  std::string message;  // why, unless done
};

/// Asks for `url` from byte `begin` on (0: for all of it). Goes from https to
/// https alone and sends no name or password. Throws what `receiver` throws.
/// May be called from several threads.
HttpOutcome HttpGet(const std::string& url, int64_t begin,
                    const HttpLimits& limits, const std::stop_token& stop,
                    HttpReceiver& receiver);

}  // namespace leadline::dataset
