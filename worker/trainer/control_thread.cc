#include "worker/trainer/control_thread.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <iostream>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "worker/trainer/json_line.h"
#include "worker/trainer/orders.h"

namespace leadline::trainer {
namespace {

using std::chrono::steady_clock;

constexpr size_t kMostConnections = 16;

[[noreturn]] void Fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

Descriptor Checked(int number, const char* what) {
  if (number < 0) Fail(what);
  return Descriptor(number);
}

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept
    : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

void BlockStopSignals() {
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

ControlThread::ControlThread(const ControlOptions& options, RunControl& control)
    : control_(control),
      longest_silence_(options.longest_silence),
      last_order_(steady_clock::now()) {
  const sigset_t signals = StopSignals();
  signals_ = Checked(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK),
                     "cannot wait for signals");
  wake_ = Checked(eventfd(0, EFD_CLOEXEC), "cannot make an event");
  if (options.folder) Listen(*options.folder);
  thread_ = std::jthread([this] { Run(); });
}

ControlThread::~ControlThread() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t count =
      write(wake_.number(), &one, sizeof(one));
  thread_.join();
  if (!socket_path_.empty()) unlink(socket_path_.c_str());
}

void ControlThread::Listen(const std::filesystem::path& folder) {
  socket_path_ = folder / "orders.sock";
  // The address holds 107 bytes; through the open folder any path is short.
  const Descriptor opened =
      Checked(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC),
              "cannot open the attempt's folder");
  const std::string address_path =
      "/proc/self/fd/" + std::to_string(opened.number()) + "/orders.sock";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, address_path.c_str(),
               sizeof(address.sun_path) - 1);
  listener_ =
      Checked(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
              "cannot make the socket of orders");
  // The folder's record is locked, so a socket that lies here is a dead one.
  unlink(socket_path_.c_str());
  if (bind(listener_.number(), reinterpret_cast<sockaddr*>(&address),
           sizeof(address)) != 0 ||
      listen(listener_.number(), 8) != 0) {
    Fail("cannot listen on " + socket_path_);
  }
}

int ControlThread::MillisecondsOfPatience() const {
  if (listener_.number() < 0) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(
      last_order_ + longest_silence_ - steady_clock::now());
  return static_cast<int>(std::max<int64_t>(0, left.count()));
}

// Without this thread nobody could end the attempt, and none would know.
void ControlThread::Run() {
  try {
    Serve();
  } catch (const std::exception& failed) {
    control_.Stop(
        {AttemptOutcome::kFailed, FailureKind::kCrash,
         std::string("the thread that hears orders failed: ") + failed.what()});
  }
}

void ControlThread::Serve() {
  bool silent = false;
  for (;;) {
    std::vector<pollfd> waits = {{wake_.number(), POLLIN, 0},
                                 {signals_.number(), POLLIN, 0},
                                 {listener_.number(), POLLIN, 0}};
    for (const auto& [number, connection] : connections_) {
      waits.push_back({number, POLLIN, 0});
    }
    const int patience = silent ? -1 : MillisecondsOfPatience();
    const int ready = poll(waits.data(), waits.size(), patience);
    if (ready < 0 && errno != EINTR) Fail("cannot wait for orders");
    if (ready == 0 && MillisecondsOfPatience() == 0) {
      silent = true;
      control_.Stop({AttemptOutcome::kFailed, FailureKind::kAgentLost,
                     "the agent has been silent for " +
                         std::to_string(longest_silence_.count() / 1000) +
                         " s"});
      continue;
    }
    if (ready <= 0) continue;
    if (waits[0].revents != 0) return;
    if (waits[1].revents != 0) HearSignal();
    if (waits[2].revents != 0) Accept();
    for (size_t i = 3; i < waits.size(); ++i) {
      if (waits[i].revents == 0) continue;
      const auto at = connections_.find(waits[i].fd);
      if (!Hear(at->second)) connections_.erase(at);
    }
  }
}

void ControlThread::HearSignal() {
  signalfd_siginfo info{};
  if (read(signals_.number(), &info, sizeof(info)) != sizeof(info)) return;
  if (std::exchange(stopped_by_signal_, true)) _exit(1);
  control_.Stop({AttemptOutcome::kCancelled, std::nullopt,
                 info.ssi_signo == SIGINT ? "interrupted" : "terminated"});
}

void ControlThread::Accept() {
  Descriptor socket(accept4(listener_.number(), nullptr, nullptr,
                            SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket.number() < 0 || connections_.size() == kMostConnections) return;
  const int number = socket.number();
  connections_.emplace(number, Connection{std::move(socket), {}});
}

bool ControlThread::Hear(Connection& connection) {
  std::array<char, kLongestOrder> bytes{};
  const ssize_t count =
      read(connection.socket.number(), bytes.data(), bytes.size());
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  if (count == 0) return false;
  connection.pending.append(bytes.data(), static_cast<size_t>(count));
  size_t end = 0;
  while ((end = connection.pending.find('\n')) != std::string::npos) {
    Obey(std::string_view(connection.pending).substr(0, end));
    Answer(connection);
    connection.pending.erase(0, end + 1);
  }
  return connection.pending.size() <= kLongestOrder;
}

// Whoever gives orders hears what the trainer waits for. One that does not read
// hears less.
void ControlThread::Answer(const Connection& connection) const {
  const std::string waits = control_.Waits();
  const std::string line = JsonLine().Text("waits_for", waits).Finish() + '\n';
  [[maybe_unused]] const ssize_t sent =
      send(connection.socket.number(), line.data(), line.size(),
           MSG_NOSIGNAL | MSG_DONTWAIT);
}

void ControlThread::Obey(std::string_view line) {
  const std::optional<Order> order = ParseOrder(line);
  if (!order) {
    std::cerr << "an order that is none was ignored\n";
    return;
  }
  // Orders that waited while this process was stopped renew nothing.
  const auto now = steady_clock::now();
  const auto as_of =
      order->as_of_ms
          ? std::min(now, steady_clock::time_point(
                              std::chrono::milliseconds(*order->as_of_ms)))
          : now;
  last_order_ = std::max(last_order_, as_of);
  switch (order->kind) {
    case Order::Kind::kRenew:
      break;
    case Order::Kind::kStop:
      control_.Stop(
          {AttemptOutcome::kCancelled, std::nullopt, "stopped by an order"});
      break;
    case Order::Kind::kDropReplica:
      control_.DropReplica(order->replica);
      break;
    case Order::Kind::kPeers:
      control_.GivePeers(order->peers);
      break;
  }
}

}  // namespace leadline::trainer
