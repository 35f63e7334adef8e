#include "coordinator/http/reply.h"

#include <string_view>
#include <utility>

#include <boost/beast/http/error.hpp>

namespace leadline::http {
namespace {

namespace beast_http = boost::beast::http;

/// Pages of this server load nothing from anywhere, are framed by nobody, and
/// what they say is out of date at once.
constexpr std::pair<const char*, const char*> kHeadersOfAll[] = {
    {"Cache-Control", "no-store"},
    {"Content-Security-Policy",
     "default-src 'none'; base-uri 'none'; form-action 'none'; "
     "frame-ancestors 'none'"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
};

std::string Text(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

std::optional<Response> RefusalOf(boost::beast::error_code error) {
  if (error == beast_http::error::header_limit) {
    return TextResponse(431, "the header of this request is too large");
  }
  if (error == beast_http::error::body_limit) {
    return TextResponse(413, "the body of this request is too large");
  }
  // What was broken off in the middle of a request is heard by nobody.
  const bool is_gone = error == beast_http::error::end_of_stream ||
                       error == beast_http::error::partial_message;
  const auto& category =
      beast_http::make_error_code(beast_http::error::end_of_stream).category();
  if (is_gone || error.category() != category) return std::nullopt;
  return TextResponse(400, "this is no HTTP request");
}

std::optional<Response> RefusalOf(const Message& message) {
  if (message.method() != beast_http::verb::get &&
      message.method() != beast_http::verb::head) {
    Response response = TextResponse(405, "only GET and HEAD are served");
    response.headers.emplace_back("Allow", "GET, HEAD");
    return response;
  }
  if (!message.target().starts_with('/')) {
    return TextResponse(400, "the target of a request is a path");
  }
  return std::nullopt;
}

Request RequestOf(const Message& message, const std::string& peer) {
  Request request;
  const std::string target = Text(message.target());
  const size_t question = target.find('?');
  request.path = target.substr(0, question);
  if (question != std::string::npos) {
    request.query = target.substr(question + 1);
  }
  request.authorization = Text(message[beast_http::field::authorization]);
  request.peer = peer;
  return request;
}

Reply ReplyOf(Response response, bool is_head, bool closes) {
  Reply reply;
  reply.version(11);
  reply.result(response.code);
  reply.set(beast_http::field::content_type, response.type);
  for (const auto& [name, value] : kHeadersOfAll) reply.set(name, value);
  for (const auto& [name, value] : response.headers) reply.set(name, value);
  reply.keep_alive(!closes);
  reply.content_length(response.body.size());
  if (!is_head) reply.body() = std::move(response.body);
  return reply;
}

}  // namespace leadline::http
