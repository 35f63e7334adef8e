#include "coordinator/http/routes.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace leadline::http {
namespace {

Response Unauthenticated() {
  Response response = TextResponse(
      401, "a token is needed: send it as \"Authorization: Bearer TOKEN\"");
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

Response TooMany() {
  Response response =
      TextResponse(429, "too many requests of this caller; wait a moment");
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace

Response TextResponse(unsigned code, const std::string& line) {
  Response response;
  response.code = code;
  response.body = line + "\n";
  return response;
}

Routes::Routes(std::vector<Route> routes, Gate gate)
    : routes_(std::move(routes)), gate_(std::move(gate)) {
  const std::string page = Page();
  routes_.push_back({"/", "this page", true, [page](const Request&) {
                       Response response;
                       response.type = "text/html; charset=utf-8";
                       response.body = page;
                       return response;
                     }});
}

Answered Routes::Answer(const Request& request) const {
  const auto route = std::ranges::find(routes_, request.path, &Route::path);
  if (route == routes_.end()) {
    return {TextResponse(404, "nothing is here; / lists what there is"),
            kOtherRoute};
  }
  const Verdict verdict =
      route->open || !gate_ ? Verdict::kAllowed : gate_(request, *route);
  switch (verdict) {
    case Verdict::kUnauthenticated:
      return {Unauthenticated(), route->path};
    case Verdict::kForbidden:
      return {TextResponse(403, "the role of this token does not allow it"),
              route->path};
    case Verdict::kTooMany:
      return {TooMany(), route->path};
    case Verdict::kAllowed:
      break;
  }
  try {
    return {route->answer(request), route->path};
  } catch (const std::exception&) {
    return {TextResponse(500, "this page could not be made"), route->path};
  }
}

std::vector<std::string> Routes::Paths() const {
  std::vector<std::string> paths;
  for (const Route& route : routes_) paths.push_back(route.path);
  return paths;
}

/// Paths and texts are ours: nothing in them needs escaping.
std::string Routes::Page() const {
  std::string page =
      "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
      "<title>Leadline coordinator</title>\n<h1>Leadline coordinator</h1>\n"
      "<ul>\n";
  for (const Route& route : routes_) {
    page += "<li><a href=\"" + route.path + "\">" + route.path +
            "</a>: " + route.about + "</li>\n";
  }
  return page + "</ul>\n</html>\n";
}

}  // namespace leadline::http
