#include <algorithm>

#include "worker/collective/ring/ring_engine.h"

namespace leadline::collective {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ErrorCode = boost::system::error_code;

constexpr milliseconds kLongestBeat{1000};
constexpr milliseconds kLongestTick{100};

std::string Seconds(steady_clock::duration duration) {
  const auto tenths =
      std::chrono::duration_cast<milliseconds>(duration).count() / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

}  // namespace

void Ring::Engine::Tick() {
  const auto period =
      std::clamp(options_.limit / 10, milliseconds(1), kLongestTick);
  tick_.expires_after(period);
  tick_.async_wait([this](const ErrorCode& error) {
    if (error || closed_) return;
    const auto now = steady_clock::now();
    if (closing_ && now > closes_at_) return Close();
    Beat(now);
    if (SomeoneWaits(now)) started_ = now;
    if (!failed_ && !jobs_.empty() && now - started_ > jobs_.front().limit) {
      FailForTime(now);
    }
    Tick();
  });
}

void Ring::Engine::Beat(steady_clock::time_point now) {
  if (failed_ || closing_ || now - last_beat_ < BeatPeriod()) return;
  last_beat_ = now;
  Frame frame;
  frame.kind = FrameKind::kBeat;
  frame.operation.number = begun_;
  frame.turn = options_.waits() ? 1 : 0;
  for (const auto& peer : peers_) {
    if (!peer->writing) Send(*peer, {.head = Encode(frame)});
  }
}

bool Ring::Engine::SomeoneWaits(steady_clock::time_point now) {
  const bool waits = std::ranges::any_of(peers_, [&](const auto& peer) {
    return peer->waits && now - peer->heard < 4 * BeatPeriod();
  });
  const std::lock_guard lock(mutex_);
  others_wait_ = waits;
  return waits;
}

milliseconds Ring::Engine::BeatPeriod() const {
  return std::min(options_.limit / 10, kLongestBeat);
}

void Ring::Engine::FailForTime(steady_clock::time_point now) {
  const Job& job = jobs_.front();
  const std::string late = " did not end within " + Seconds(job.limit) + ": ";
  const std::string operation = ToText(job.operation) + late;
  const Peer* silent = nullptr;
  for (const auto& peer : peers_) {
    if (peer->held) continue;
    if (!silent || peer->heard < silent->heard) silent = peer.get();
  }
  if (silent != nullptr && now - silent->heard >= 4 * BeatPeriod()) {
    return Fail(operation + RankText(*silent) + " has been silent for " +
                Seconds(now - silent->heard));
  }
  for (const auto& peer : peers_) {
    if (peer->begun <= job.operation.number) {
      return Fail(operation + RankText(*peer) + " has not come to it");
    }
  }
  Fail(operation + "it waits for " + RankText(received_ ? *right_ : *left_));
}

}  // namespace leadline::collective
