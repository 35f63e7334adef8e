#include <algorithm>
#include <array>

#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include "worker/collective/ring/ring_engine.h"

namespace leadline::collective {
namespace {

using std::chrono::steady_clock;
using ErrorCode = boost::system::error_code;

constexpr size_t kDiscarded = 65536;

}  // namespace

void Ring::Engine::SendData(const Job& job, const Part& part) {
  const auto bytes = Bytes(job, part);
  Frame frame;
  frame.kind = FrameKind::kData;
  frame.operation = job.operation;
  frame.turn = now_.number;
  frame.bytes = bytes.size();
  Send(*right_, {.head = Encode(frame), .values = bytes, .is_data = true});
}

void Ring::Engine::Send(Peer& peer, Peer::Outgoing outgoing) {
  if (peer.gone) return;
  peer.outgoing.push_back(std::move(outgoing));
  if (!peer.writing) Write(peer);
}

void Ring::Engine::Write(Peer& peer) {
  peer.writing = true;
  const Peer::Outgoing& first = peer.outgoing.front();
  const std::array<boost::asio::const_buffer, 3> buffers = {
      boost::asio::buffer(first.head),
      boost::asio::buffer(first.values.data(), first.values.size()),
      boost::asio::buffer(first.reason)};
  boost::asio::async_write(
      peer.socket, buffers,
      [this, &peer](const ErrorCode& error, size_t) { Written(peer, error); });
}

void Ring::Engine::Written(Peer& peer, const ErrorCode& error) {
  peer.writing = false;
  if (error) {
    peer.outgoing.clear();
    Lose(peer, error);
    return CloseIfAllIsSaid();
  }
  const bool is_data = peer.outgoing.front().is_data;
  peer.outgoing.pop_front();
  if (!peer.outgoing.empty()) Write(peer);
  if (is_data && !failed_) {
    sent_ = true;
    EndTurnIfDone();
  }
  CloseIfAllIsSaid();
}

void Ring::Engine::ReadHead(Peer& peer) {
  boost::asio::async_read(peer.socket, boost::asio::buffer(peer.head),
                          [this, &peer](const ErrorCode& error, size_t) {
                            if (error) return Lose(peer, error);
                            TakeHead(peer);
                          });
}

void Ring::Engine::TakeHead(Peer& peer) {
  if (failed_) return Discard(peer);
  peer.heard = steady_clock::now();
  const auto frame = Decode(peer.head);
  if (!frame) return FailFor(peer, " sent what no rank sends");
  peer.frame = *frame;
  switch (frame->kind) {
    case FrameKind::kBeat:
      peer.begun = std::max(peer.begun, frame->operation.number);
      peer.waits = frame->turn == 1;
      return ReadHead(peer);
    case FrameKind::kLeave:
      peer.left = true;
      peer.through = frame->operation.number;
      // It may have done what others are still at: nobody waits for it then.
      if (!jobs_.empty() && IsMissed(peer, jobs_.front())) {
        FailFor(peer, " takes part in nothing more");
      }
      return ReadHead(peer);
    case FrameKind::kAbort:
      return ReadReason(peer);
    case FrameKind::kData:
      peer.begun = std::max(peer.begun, frame->operation.number + 1);
      return TakeData(peer);
  }
}

void Ring::Engine::ReadReason(Peer& peer) {
  peer.reason.resize(peer.frame.bytes);
  boost::asio::async_read(peer.socket, boost::asio::buffer(peer.reason),
                          [this, &peer](const ErrorCode& error, size_t) {
                            if (error) return Lose(peer, error);
                            if (!failed_) {
                              FailFor(peer, " could not go on: " + peer.reason,
                                      peer.reason);
                            }
                            Discard(peer);
                          });
}

// Too early data stays in the socket until this rank has come so far.
bool Ring::Engine::ComesEarly(const Frame& frame) const {
  const uint64_t mine = jobs_.empty() ? begun_ : jobs_.front().operation.number;
  if (jobs_.empty()) return frame.operation.number == mine;
  if (frame.operation.number == mine + 1) return true;
  return frame.operation == jobs_.front().operation && (received_ || !now_.in);
}

void Ring::Engine::TakeData(Peer& peer) {
  peer.held = false;
  const Frame& frame = peer.frame;
  if (&peer != left_) return FailFor(peer, " sent data out of turn");
  if (ComesEarly(frame)) {
    peer.held = true;
    return;
  }
  if (jobs_.empty() || frame.operation != jobs_.front().operation) {
    return FailFor(peer, " is at " + ToText(frame.operation));
  }
  const Job& job = jobs_.front();
  const auto into = Bytes(job, *now_.in);
  if (frame.turn != now_.number || frame.bytes != into.size()) {
    return FailFor(peer, " sent " + std::to_string(frame.bytes) +
                             " bytes of turn " + std::to_string(frame.turn) +
                             " where " + std::to_string(into.size()) +
                             " of turn " + std::to_string(now_.number) +
                             " were due");
  }
  if (now_.adds && arrived_.size() < into.size()) {
    arrived_.resize(into.size());
  }
  std::byte* const to = now_.adds ? arrived_.data() : into.data();
  boost::asio::async_read(peer.socket, boost::asio::buffer(to, into.size()),
                          [this, &peer](const ErrorCode& error, size_t) {
                            if (error) return Lose(peer, error);
                            if (failed_) return Discard(peer);
                            ReadHead(peer);
                            TakeValues();
                          });
}

void Ring::Engine::TakeValues() {
  const Job& job = jobs_.front();
  if (now_.adds) {
    const auto into = Bytes(job, *now_.in);
    AddTo(into, std::span(arrived_).first(into.size()), job.operation.element);
  }
  received_ = true;
  EndTurnIfDone();
}

// Unread bytes would make the system drop what was said at the close.
void Ring::Engine::Discard(Peer& peer) {
  discarded_.resize(kDiscarded);
  peer.socket.async_read_some(boost::asio::buffer(discarded_),
                              [this, &peer](const ErrorCode& error, size_t) {
                                if (error) return Lose(peer, error);
                                Discard(peer);
                              });
}

void Ring::Engine::Lose(Peer& peer, const ErrorCode& error) {
  if (peer.gone || closed_) return;
  peer.gone = true;
  // The first may still be on its way.
  while (peer.outgoing.size() > (peer.writing ? 1 : 0)) {
    peer.outgoing.pop_back();
  }
  peer.reason = error == boost::asio::error::eof
                    ? "its connection was closed"
                    : "its connection broke: " + error.message();
  if (!failed_ && !peer.left) {
    if (!jobs_.empty()) {
      FailFor(peer, " is gone: " + peer.reason);
    } else {
      // Nothing waits for it here, but its device may be missed.
      const std::lock_guard lock(mutex_);
      lost_ = RankText(peer) + " is gone: " + peer.reason;
    }
  }
  CloseIfAllIsSaid();
}

}  // namespace leadline::collective
