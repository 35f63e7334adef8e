#include "worker/agent/order_socket.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "worker/agent/strict_json.h"

namespace leadline::agent {
namespace {

// A trainer's answers are short; what is longer is none.
constexpr size_t kMostAnswer = 8192;

std::string WaitsIn(std::string_view line) {
  const auto answer = ParseStrictJson(line, 2);
  if (!answer.ok() || !answer->is_object()) return {};
  const auto waits = answer->find("waits_for");
  return waits != answer->end() && waits->is_string()
             ? waits->get<std::string>()
             : std::string();
}

}  // namespace

namespace {

std::string Line(std::string_view order, const std::string& fields,
                 std::chrono::steady_clock::time_point as_of) {
  const auto as_of_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
      as_of.time_since_epoch());
  return R"({"order":")" + std::string(order) + '"' + fields +
         R"(,"as_of_ms":)" + std::to_string(as_of_ms.count()) + "}\n";
}

}  // namespace

bool OrderSocket::Send(std::string_view order,
                       std::chrono::steady_clock::time_point as_of) {
  return SendLine(Line(order, "", as_of));
}

bool OrderSocket::SendPeers(const std::vector<std::string>& peers,
                            std::chrono::steady_clock::time_point as_of) {
  std::string list;
  for (const std::string& peer : peers) {
    if (peer.find_first_of("\"\\\n") != std::string::npos) return false;
    list += (list.empty() ? "\"" : ",\"") + peer + '"';
  }
  return SendLine(Line("peers", ",\"peers\":[" + list + "]", as_of));
}

bool OrderSocket::SendLine(const std::string& line) {
  // A trainer that has closed is found out by writing: then once anew.
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (!socket_ && !Connect()) return false;
    const ssize_t sent = send(socket_.get(), line.data(), line.size(),
                              MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent == static_cast<ssize_t>(line.size())) return true;
    // Half a line must not be followed by another.
    Forget();
  }
  return false;
}

void OrderSocket::Forget() {
  socket_.Reset();
  answers_.clear();
  waits_.clear();
}

const std::string& OrderSocket::Waits() {
  std::array<char, kMostAnswer> bytes{};
  while (socket_) {
    const ssize_t count =
        recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) break;
    // Who goes before it has read an order resets the connection.
    if (count <= 0) {
      Forget();
      break;
    }
    answers_.append(bytes.data(), static_cast<size_t>(count));
    size_t end = 0;
    while ((end = answers_.find('\n')) != std::string::npos) {
      waits_ = WaitsIn(std::string_view(answers_).substr(0, end));
      answers_.erase(0, end + 1);
    }
    if (answers_.size() > kMostAnswer) Forget();
  }
  return waits_;
}

bool OrderSocket::Connect() {
  // Through the folder's descriptor, since a socket's path holds 107 bytes.
  const FileDescriptor folder(
      open(folder_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return false;
  const std::string path =
      "/proc/self/fd/" + std::to_string(folder.get()) + "/orders.sock";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.data(), path.size());
  FileDescriptor connecting(
      socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!connecting ||
      connect(connecting.get(), reinterpret_cast<const sockaddr*>(&address),
              sizeof address) != 0) {
    return false;
  }
  socket_ = std::move(connecting);
  return true;
}

}  // namespace leadline::agent
