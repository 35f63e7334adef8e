// From what is on the wire to requests, and from responses to it.

#pragma once

#include <optional>
#include <string>

#include <boost/beast/core/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "coordinator/http/message.h"

namespace leadline::http {

using Parser =
    boost::beast::http::request_parser<boost::beast::http::string_body>;
using Message = boost::beast::http::request<boost::beast::http::string_body>;
using Reply = boost::beast::http::response<boost::beast::http::string_body>;

/// What to say to a request that could not be read; null where nobody would
/// hear it.
std::optional<Response> RefusalOf(boost::beast::error_code error);

/// What to say to one that is none of ours: another method than GET and HEAD,
/// or a target that is no path. Null: let a route answer.
std::optional<Response> RefusalOf(const Message& message);

Request RequestOf(const Message& message, const std::string& peer);

/// With the headers every answer has.
Reply ReplyOf(Response response, bool is_head, bool closes);

}  // namespace leadline::http
