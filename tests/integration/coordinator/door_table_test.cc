// Every call × every role × every way to have no token, against a server.
// docs/security.md holds the table; LEADLINE_UPDATE_DOCS=1 writes it anew.

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include "coordinator/pages.h"
#include "door_world.h"
#include "leadline/v1/node_service.pb.h"
#include "leadline/v1/worker_service.pb.h"
#include "tests/support/paths.h"
#include "tests/support/protocol_calls.h"
#include "tls/host_port.h"

namespace leadline {
namespace {

constexpr char kBegin[] = "<!-- begin of the table of calls -->\n";
constexpr char kEnd[] = "<!-- end of the table of calls -->\n";

struct Shown {
  std::string title;
  std::string token;
};

std::string VerdictOf(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::UNAUTHENTICATED:
      return "unauthenticated";
    case grpc::StatusCode::PERMISSION_DENIED:
      return "denied";
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
    case grpc::StatusCode::CANCELLED:
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      ADD_FAILURE() << status.error_code() << ": " << status.error_message();
      return "broken";
    default:
      return "yes";
  }
}

std::vector<Shown> AllShown(DoorWorld& world) {
  std::vector<Shown> all;
  for (const AccessRole role : kAccessRoles) {
    all.push_back({std::string(Name(role)), world.Token(role)});
  }
  all.push_back({"no token", ""});
  std::string wrong = all[2].token;
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  all.push_back({"wrong", wrong});
  all.push_back(
      {"expired", world.Token(AccessRole::kAdmin,
                              storage::WallTime(std::chrono::seconds(1)))});
  const std::string revoked = world.Token(AccessRole::kAdmin);
  EXPECT_TRUE(
      world.coordinator().door().Revoke(access::ParseToken(revoked)->id).ok());
  all.push_back({"revoked", revoked});
  return all;
}

/// The code that a GET is answered with.
unsigned Get(const std::string& address, const std::string& path,
             const std::string& token, const std::string& ca) {
  namespace beast = boost::beast;
  namespace ssl = boost::asio::ssl;
  boost::asio::io_context context;
  ssl::context trusting(ssl::context::tls_client);
  trusting.load_verify_file(ca);
  trusting.set_verify_mode(ssl::context::verify_peer);
  beast::ssl_stream<beast::tcp_stream> stream(context, trusting);
  const auto to = tls::ParseHostPort(address);
  beast::get_lowest_layer(stream).connect(
      boost::asio::ip::tcp::endpoint(boost::asio::ip::make_address(to->host),
                                     static_cast<uint16_t>(to->port)));
  stream.handshake(ssl::stream_base::client);
  beast::http::request<beast::http::empty_body> request(beast::http::verb::get,
                                                        path, 11);
  if (!token.empty()) {
    request.set(beast::http::field::authorization, "Bearer " + token);
  }
  beast::http::write(stream, request);
  beast::flat_buffer buffer;
  beast::http::response<beast::http::string_body> response;
  beast::http::read(stream, buffer, response);
  return response.result_int();
}

std::string VerdictOf(unsigned code) {
  if (code == 401) return "unauthenticated";
  if (code == 403) return "denied";
  // A probe may well say that the coordinator is not ready.
  EXPECT_TRUE(code == 200 || code == 503) << code;
  return "yes";
}

std::string MakeTable(DoorWorld& world) {
  const std::vector<Shown> shown = AllShown(world);
  std::string head = "| call |";
  std::string rule = "| --- |";
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  for (const Shown& one : shown) {
    head += " " + one.title + " |";
    rule += " --- |";
    channels.push_back(world.Channel(one.token));
  }
  std::string table = head + "\n" + rule + "\n";
  for (const std::string& call : test::CallsOfTheProtocol()) {
    table += "| `" + call.substr(std::string("/leadline.v1.").size()) + "` |";
    for (const auto& channel : channels) {
      table += " " + VerdictOf(DoorWorld::Call(channel, call)) + " |";
    }
    table += "\n";
  }
  const std::string http = world.coordinator().http_address().value();
  for (const std::string& path : PathsOfPages()) {
    table += "| `GET " + path + "` |";
    for (const Shown& one : shown) {
      table +=
          " " + VerdictOf(Get(http, path, one.token, world.files().ca)) + " |";
    }
    table += "\n";
  }
  return table;
}

TEST(DoorTableTest, EveryCallAndRoleIsAsThePageSays) {
  DoorWorld world(DoorWorld::Encrypted::kYes);
  const std::string table = MakeTable(world);
  std::printf("%s", table.c_str());
  const std::filesystem::path path = test::SourceDir() / "docs" / "security.md";
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  std::string page = text.str();
  const size_t begin = page.find(kBegin);
  const size_t end = page.find(kEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const size_t first = begin + std::string(kBegin).size();
  if (std::getenv("LEADLINE_UPDATE_DOCS") != nullptr) {
    std::ofstream(path) << page.replace(first, end - first, table);
    return;
  }
  EXPECT_EQ(page.substr(first, end - first), table);
}

}  // namespace
}  // namespace leadline
