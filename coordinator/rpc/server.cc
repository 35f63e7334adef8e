#include "coordinator/rpc/server.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <absl/cleanup/cleanup.h>
#include <absl/status/status.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "errors/error_code.h"

namespace leadline::rpc {
namespace {

constexpr int kMostHeaderBytes = 16 << 10;

/// True if another process listens at the path.
bool IsServed(const std::string& path) {
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return false;
  const absl::Cleanup close_probe = [probe] { close(probe); };
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return connect(probe, reinterpret_cast<sockaddr*>(&address),
                 sizeof address) == 0;
}

absl::Status Taken(const ListenAddress& address) {
  const std::string what =
      address.is_unix
          ? "socket " + address.path
          : "port " + std::to_string(address.port) + " of " + address.host;
  return WithError(absl::UnavailableError(
                       "cannot listen on " + address.ToText() + ": " + what +
                       " is in use or may not be bound; stop what "
                       "listens there or choose another with --listen"),
                   ErrorCode::kAddressInUse);
}

/// The socket's path through its folder's descriptor.
absl::StatusOr<std::string> ShortPath(const ListenAddress& address,
                                      std::vector<int>& folders) {
  const std::filesystem::path path(address.path);
  const int folder =
      open(path.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    return WithError(
        absl::NotFoundError("cannot listen on " + address.ToText() + ": " +
                            path.parent_path().string() + ": " +
                            std::strerror(errno)),
        ErrorCode::kAddressUnusable);
  }
  folders.push_back(folder);
  const std::string short_path = "/proc/self/fd/" + std::to_string(folder) +
                                 "/" + path.filename().string();
  if (short_path.size() > sizeof(sockaddr_un::sun_path) - 1) {
    return WithError(
        absl::InvalidArgumentError("cannot listen on " + address.ToText() +
                                   ": the name of the socket is too long"),
        ErrorCode::kAddressUnusable);
  }
  // gRPC would unlink a socket it finds, in use or not.
  if (IsServed(short_path)) return Taken(address);
  return short_path;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(
    const std::vector<Listener>& listeners,
    const std::vector<grpc::Service*>& services, Interceptors interceptors,
    const Keepalive& keepalive) {
  std::unique_ptr<Server> server(new Server);
  server->address_ = listeners.front().address;
  grpc::ServerBuilder builder;
  Configure(builder, keepalive);
  // Without this two servers share a port in silence.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMostHeaderBytes);
  std::vector<int> ports(listeners.size(), 0);
  for (size_t i = 0; i < listeners.size(); ++i) {
    std::string target = listeners[i].address.ToText();
    if (listeners[i].address.is_unix) {
      const auto path = ShortPath(listeners[i].address, server->folders_);
      if (!path.ok()) return path.status();
      target = "unix:" + *path;
    }
    builder.AddListeningPort(target,
                             listeners[i].credentials
                                 ? listeners[i].credentials
                                 : grpc::InsecureServerCredentials(),
                             &ports[i]);
  }
  for (grpc::Service* service : services) builder.RegisterService(service);
  builder.experimental().SetInterceptorCreators(std::move(interceptors));
  server->server_ = builder.BuildAndStart();
  for (size_t i = 0; i < listeners.size(); ++i) {
    if (!server->server_ || ports[i] <= 0) return Taken(listeners[i].address);
  }
  if (!server->address_.is_unix) server->address_.port = ports.front();
  return server;
}

Server::~Server() {
  Stop(std::chrono::milliseconds(0));
  server_.reset();  // unlinks its sockets through the folders
  for (const int folder : folders_) close(folder);
}

void Server::Stop(std::chrono::milliseconds grace) {
  if (!server_) return;
  server_->Shutdown(std::chrono::system_clock::now() + grace);
  server_->Wait();
}

}  // namespace leadline::rpc
