// One request and its answer, as routes see them: no sockets.

#pragma once

#include <string>
#include <utility>
#include <vector>

namespace leadline::http {

struct Request {
  std::string path;           // "/metrics", as sent: nothing is decoded
  std::string query;          // behind the question mark
  std::string authorization;  // the header's value; empty: there was none
  std::string peer;           // "127.0.0.1:40312"
};

struct Response {
  unsigned code = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;  // further ones
};

/// One line of plain text, its newline included.
Response TextResponse(unsigned code, const std::string& line);

}  // namespace leadline::http
