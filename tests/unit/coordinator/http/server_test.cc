#include "coordinator/http/server.h"

#include <atomic>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leadline::http {
namespace {

using boost::asio::ip::tcp;
using testing::HasSubstr;
using testing::StartsWith;

/// Speaks bytes, not HTTP: a test says exactly what is sent.
class Client {
 public:
  explicit Client(const std::string& address) : socket_(context_) {
    const size_t colon = address.rfind(':');
    socket_.connect(
        {boost::asio::ip::make_address(address.substr(0, colon)),
         static_cast<uint16_t>(std::stoi(address.substr(colon + 1)))});
  }

  void Send(const std::string& bytes) {
    boost::system::error_code ignored;
    boost::asio::write(socket_, boost::asio::buffer(bytes), ignored);
  }

  /// All that comes until the server ends the connection.
  std::string ReadToEnd() {
    std::string all;
    boost::system::error_code error;
    boost::asio::read(socket_, boost::asio::dynamic_buffer(all), error);
    return all;
  }

  /// One answer of a connection that stays.
  std::string ReadAnswer(const std::string& last) {
    std::string all;
    boost::system::error_code error;
    boost::asio::read_until(socket_, boost::asio::dynamic_buffer(all), last,
                            error);
    return all;
  }

 private:
  boost::asio::io_context context_;
  tcp::socket socket_;
};

class ServerTest : public testing::Test {
 protected:
  void Start(Limits limits = {}, std::vector<Route> more = {}) {
    ServerOptions options;
    options.host = "127.0.0.1";
    options.limits = limits;
    options.on_answered = [this](const std::string& route, unsigned code) {
      const std::lock_guard lock(mutex_);
      answered_.push_back(route + " " + std::to_string(code));
    };
    more.push_back({"/page", "a page", false, [](const Request& request) {
                      return TextResponse(200, "the page " + request.query);
                    }});
    auto server = Server::Start(std::move(options), Routes(std::move(more)));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  std::string Ask(const std::string& bytes) {
    Client client(server_->address());
    client.Send(bytes);
    return client.ReadToEnd();
  }

  /// Once others have gone, or were cut.
  std::string AskUntilThereIsRoom() {
    std::string answer;
    do {
      answer = Ask(Get("/page"));
    } while (answer.empty() || answer.starts_with("HTTP/1.1 503 "));
    return answer;
  }

  static std::string Get(const std::string& target) {
    return "GET " + target +
           " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
  }

  std::vector<std::string> answered() {
    const std::lock_guard lock(mutex_);
    return answered_;
  }

  std::mutex mutex_;
  std::vector<std::string> answered_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerTest, ServesAPageAndTellsOfIt) {
  Start();
  const std::string answer = Ask(Get("/page?x=1"));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\nthe page x=1\n"));
  EXPECT_THAT(answered(), testing::ElementsAre("/page 200"));
}

TEST_F(ServerTest, EveryAnswerHasTheHeadersThatLockItDown) {
  Start();
  for (const std::string& request :
       {Get("/page"), Get("/"), Get("/none"), std::string("rubbish\r\n\r\n"),
        std::string("POST /page HTTP/1.1\r\nContent-Length: 0\r\n"
                    "Connection: close\r\n\r\n"),
        "GET /page HTTP/1.1\r\nX: " + std::string(10'000, 'x') + "\r\n\r\n"}) {
    const std::string answer = Ask(request);
    EXPECT_THAT(answer, HasSubstr("X-Content-Type-Options: nosniff\r\n"));
    EXPECT_THAT(answer, HasSubstr("Content-Security-Policy: default-src "
                                  "'none'; base-uri 'none'; "));
    EXPECT_THAT(answer, HasSubstr("X-Frame-Options: DENY\r\n"));
    EXPECT_THAT(answer, HasSubstr("Referrer-Policy: no-referrer\r\n"));
    EXPECT_THAT(answer, HasSubstr("Cache-Control: no-store\r\n"));
  }
}

TEST_F(ServerTest, HeadSaysHowLongAndSendsNothing) {
  Start();
  const std::string answer =
      Ask("HEAD /page HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("Content-Length: 10\r\n"));
  EXPECT_THAT(answer, testing::EndsWith("\r\n\r\n"));
}

TEST_F(ServerTest, RefusesWhatItDoesNotServe) {
  Start();
  EXPECT_THAT(Ask(Get("/none")), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Ask(Get("/../etc/passwd")), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Ask(Get("http://x/page")), StartsWith("HTTP/1.1 400 "));
  const std::string post =
      Ask("DELETE /page HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(post, StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(post, HasSubstr("Allow: GET, HEAD\r\n"));
  EXPECT_THAT(Ask("\x16\x03\x01 hello\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
}

TEST_F(ServerTest, HeadersAndBodiesHaveTheirLimits) {
  Start();
  EXPECT_THAT(
      Ask("GET /page HTTP/1.1\r\nX: " + std::string(8192, 'x') + "\r\n\r\n"),
      StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(Ask("GET /page HTTP/1.1\r\nContent-Length: 5000000\r\n\r\n" +
                  std::string(5'000'000, 'x')),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(Ask("GET /" + std::string(9000, 'x') + " HTTP/1.1\r\n\r\n"),
              StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(Ask(Get("/page")), StartsWith("HTTP/1.1 200 "));
}

TEST_F(ServerTest, OneConnectionAsksManyTimes) {
  Start();
  Client client(server_->address());
  for (int i = 0; i < 3; ++i) {
    client.Send("GET /page HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_THAT(client.ReadAnswer("the page \n"), StartsWith("HTTP/1.1 200 "));
  }
}

TEST_F(ServerTest, WhoDripsOrSaysNothingIsCutAndHoldsNobodyUp) {
  Limits limits;
  limits.request = std::chrono::milliseconds(300);
  Start(limits);
  Client silent(server_->address());
  Client slow(server_->address());
  std::jthread drip([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      slow.Send("G");
      // The drip itself: a byte now and then. Nothing waits for it.
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
  EXPECT_THAT(Ask(Get("/page")), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(silent.ReadToEnd(), "");
  EXPECT_THAT(slow.ReadToEnd(), testing::Not(HasSubstr("200 OK")));
}

TEST_F(ServerTest, WhoDoesNotTakeItsAnswerIsCut) {
  Limits limits;
  limits.answer = std::chrono::milliseconds(200);
  limits.connections = 1;
  const Route large{"/large", "a large page", false, [](const Request&) {
                      Response response;
                      response.body.assign(64 << 20, 'x');
                      return response;
                    }};
  Start(limits, {large});
  Client client(server_->address());
  client.Send(Get("/large"));
  client.ReadAnswer("\r\n\r\n");
  EXPECT_THAT(AskUntilThereIsRoom(), StartsWith("HTTP/1.1 200 "));
  EXPECT_LT(client.ReadToEnd().size(), size_t{64} << 20);
}

TEST_F(ServerTest, ConnectionsBeyondTheLimitAreToldSo) {
  Limits limits;
  limits.connections = 2;
  Start(limits);
  {
    Client first(server_->address());
    Client second(server_->address());
    // Until both are counted: an answer on each.
    for (Client* client : {&first, &second}) {
      client->Send("GET /page HTTP/1.1\r\n\r\n");
      client->ReadAnswer("the page \n");
    }
    EXPECT_THAT(Client(server_->address()).ReadToEnd(),
                StartsWith("HTTP/1.1 503 "));
  }
  EXPECT_THAT(AskUntilThereIsRoom(), StartsWith("HTTP/1.1 200 "));
}

TEST_F(ServerTest, SlowPageHoldsUpNoProbeAndStopWaitsForIt) {
  std::promise<void> begun;
  std::promise<void> may_end;
  const Route slow{"/slow", "a slow page", false, [&](const Request&) {
                     begun.set_value();
                     may_end.get_future().wait();
                     return TextResponse(200, "late");
                   }};
  Start({}, {slow});
  Client client(server_->address());
  client.Send(Get("/slow"));
  begun.get_future().wait();
  EXPECT_THAT(Ask(Get("/page")), StartsWith("HTTP/1.1 200 "));
  may_end.set_value();
  EXPECT_THAT(client.ReadToEnd(), HasSubstr("late"));
}

TEST_F(ServerTest, StopEndsOpenConnections) {
  Start();
  Client client(server_->address());
  client.Send("GET /page HTTP/1.1\r\n\r\n");
  client.ReadAnswer("the page \n");
  server_->Stop();
  server_.reset();
  EXPECT_EQ(client.ReadToEnd(), "");
}

TEST_F(ServerTest, PortThatIsTakenIsNamed) {
  Start();
  ServerOptions options;
  options.host = "127.0.0.1";
  const std::string address = server_->address();
  options.port =
      static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  const auto second = Server::Start(options, Routes({}));
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(address));
  options.host = "nowhere";
  EXPECT_EQ(Server::Start(options, Routes({})).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace leadline::http
