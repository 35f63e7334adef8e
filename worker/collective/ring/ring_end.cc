#include <algorithm>
#include <utility>

#include "worker/collective/ring/ring_engine.h"

namespace leadline::collective {
namespace {

using boost::asio::ip::tcp;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ErrorCode = boost::system::error_code;

constexpr milliseconds kForLeave{1000};

}  // namespace

void Ring::Engine::FailFor(const Peer& peer, const std::string& what,
                           const std::string& told) {
  const std::string mine = jobs_.empty() ? std::string("between two operations")
                                         : ToText(jobs_.front().operation);
  const std::string cause = RankText(peer) + what;
  Fail(mine + ": " + cause, told, cause);
}

// The others are told what this rank was told itself, where it was.
void Ring::Engine::Fail(const std::string& message, const std::string& told,
                        const std::string& cause) {
  if (failed_) return;
  failed_ = true;
  {
    const std::lock_guard lock(mutex_);
    failure_ = message;
    cause_ = cause.empty() ? message : cause;
  }
  changed_.notify_all();
  std::string reason = told.empty() ? message : told;
  reason.resize(std::min(reason.size(), kLongestReason));
  Frame frame;
  frame.kind = FrameKind::kAbort;
  frame.bytes = reason.size();
  for (const auto& peer : peers_) {
    Send(*peer, {.head = Encode(frame), .reason = reason});
    if (std::exchange(peer->held, false)) Discard(*peer);
  }
}

void Ring::Engine::TakeLeave() {
  closing_ = true;
  closes_at_ = steady_clock::now() + kForLeave;
  Frame frame;
  frame.kind = FrameKind::kLeave;
  frame.operation.number = begun_ - jobs_.size();
  if (!failed_) {
    for (const auto& peer : peers_) Send(*peer, {.head = Encode(frame)});
  }
  CloseIfAllIsSaid();
}

void Ring::Engine::CloseIfAllIsSaid() {
  if (!closing_ || closed_) return;
  for (const auto& peer : peers_) {
    if (peer->writing || !peer->outgoing.empty()) return;
  }
  Close();
}

void Ring::Engine::Close() {
  closed_ = true;
  ErrorCode ignored;
  for (const auto& peer : peers_) {
    peer->socket.shutdown(tcp::socket::shutdown_both, ignored);
    peer->socket.close(ignored);
  }
  tick_.cancel();
  work_.reset();
}

}  // namespace leadline::collective
