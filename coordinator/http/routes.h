// What is served where: the one table of paths.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "coordinator/http/message.h"

namespace leadline::http {

struct Route {
  std::string path;
  std::string about;  // for the page that lists them
  /// Answered whoever asks: probes of a service manager carry no token.
  bool open = false;
  /// May block for a while, must not throw for anything a client sends. Called
  /// from several threads.
  std::function<Response(const Request&)> answer;
};

/// What a gate says of a request.
enum class Verdict {
  kAllowed,
  kUnauthenticated,  // no token, or not one of ours: 401
  kForbidden,        // a token whose role does not allow it: 403
  kTooMany,          // beyond the rate of its caller: 429
};

/// Decides before a route that is not open is asked.
using Gate = std::function<Verdict(const Request&, const Route&)>;

/// An answer, and which row of the table gave it.
struct Answered {
  Response response;
  std::string route;  // its path; "other" where there is none
};

/// The label of requests for what is not there.
inline constexpr char kOtherRoute[] = "other";

/// Immutable, so thread-safe.
class Routes {
 public:
  /// Adds the page "/" that lists them. Without a gate everything is allowed.
  explicit Routes(std::vector<Route> routes, Gate gate = {});

  /// GET or HEAD of a path. 404 names what there is; 500 if a route throws.
  Answered Answer(const Request& request) const;

  /// All paths, that of the list included.
  std::vector<std::string> Paths() const;

 private:
  std::string Page() const;

  std::vector<Route> routes_;
  Gate gate_;
};

}  // namespace leadline::http
