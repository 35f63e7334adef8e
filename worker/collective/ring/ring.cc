#include "worker/collective/ring/ring.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include "worker/collective/ring/collective_error.h"
#include "worker/collective/ring/mesh.h"
#include "worker/collective/ring/peer.h"
#include "worker/collective/ring/ring_plan.h"

namespace leadline::collective {
namespace {

using boost::asio::ip::tcp;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ErrorCode = boost::system::error_code;

constexpr milliseconds kLongestBeat{1000};
constexpr milliseconds kLongestTick{100};
constexpr milliseconds kForLeave{1000};
constexpr size_t kDiscarded = 65536;

std::string Seconds(steady_clock::duration duration) {
  const auto tenths =
      std::chrono::duration_cast<milliseconds>(duration).count() / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

std::string RankText(const Peer& peer) {
  return "rank " + std::to_string(peer.rank);
}

}  // namespace

class Ring::Engine {
 public:
  Engine(std::unique_ptr<Mesh> mesh, const RingOptions& options)
      : options_(options),
        io_(std::move(mesh->io)),
        work_(io_->get_executor()),
        tick_(*io_),
        last_beat_(steady_clock::now()) {
    for (size_t rank = 0; rank < mesh->sockets.size(); ++rank) {
      if (!mesh->sockets[rank]) continue;
      peers_.push_back(std::make_unique<Peer>(static_cast<int64_t>(rank),
                                              std::move(*mesh->sockets[rank])));
      peers_.back()->heard = steady_clock::now();
    }
    right_ = At((options_.rank + 1) % options_.size);
    left_ = At((options_.rank + options_.size - 1) % options_.size);
    thread_ = std::jthread([this] { Run(); });
  }

  ~Engine() {
    boost::asio::post(*io_, [this] { TakeLeave(); });
    thread_.join();
    // Handlers that are left hold nothing of their own; sockets go first.
    peers_.clear();
  }

  uint64_t Start(Order order) {
    Job job;
    job.operation = {.number = next_number_++,
                     .task = order.task,
                     .element = order.element,
                     .root = order.root,
                     .count = order.values.size() / SizeOf(order.element),
                     .step = order.step};
    job.values = order.values;
    job.keep = std::move(order.keep);
    job.limit = order.limit.count() > 0 ? order.limit : options_.limit;
    const uint64_t number = job.operation.number;
    boost::asio::post(*io_, [this, job = std::move(job)]() mutable {
      ++begun_;
      jobs_.push_back(std::move(job));
      if (jobs_.size() == 1) BeginJob();
    });
    return number;
  }

  void Wait(uint64_t number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_ > number || failure_; });
    if (done_ <= number) throw OperationError(*failure_);
  }

  void Abort(const std::string& reason) {
    boost::asio::post(*io_, [this, reason] {
      if (!failed_) Fail(reason, reason);
    });
  }

 private:
  struct Job {
    Operation operation;
    std::span<std::byte> values;
    std::shared_ptr<const void> keep;
    milliseconds limit{0};
  };

  // ---- All below runs on the ring's own thread.

  void Run() {
    for (const auto& peer : peers_) ReadHead(*peer);
    Tick();
    try {
      io_->run();
    } catch (const std::exception& error) {
      // Memory has run out, or the like: who waits must hear of it.
      const std::lock_guard lock(mutex_);
      failure_ = std::string("the thread of the ring failed: ") + error.what();
      changed_.notify_all();
    }
  }

  Peer* At(int64_t rank) {
    for (const auto& peer : peers_) {
      if (peer->rank == rank) return peer.get();
    }
    return nullptr;
  }

  // ---- The operation that is the first.

  void BeginJob() {
    if (failed_) return;
    started_ = steady_clock::now();
    turn_ = -1;
    for (const auto& peer : peers_) {
      if (!IsMissed(*peer, jobs_.front())) continue;
      if (peer->left) return FailFor(*peer, " takes part in nothing more");
      return FailFor(*peer, " is gone: " + peer->reason);
    }
    NextTurn();
  }

  /// It left or has gone, and has not done its part of that operation.
  static bool IsMissed(const Peer& peer, const Job& job) {
    if (!peer.left) return peer.gone;
    return job.operation.number >= peer.through;
  }

  void NextTurn() {
    const Job& job = jobs_.front();
    const auto turn =
        TurnOf(job.operation, options_.rank, options_.size, ++turn_);
    if (!turn) return EndJob();
    now_ = *turn;
    sent_ = !now_.out;
    received_ = !now_.in;
    if (now_.out) SendData(job, *now_.out);
    if (now_.in && left_->held) TakeData(*left_);
  }

  void EndTurnIfDone() {
    if (sent_ && received_ && !failed_) NextTurn();
  }

  void EndJob() {
    jobs_.pop_front();
    {
      const std::lock_guard lock(mutex_);
      ++done_;
    }
    changed_.notify_all();
    if (!jobs_.empty()) BeginJob();
  }

  std::span<std::byte> Bytes(const Job& job, const Part& part) {
    const size_t size = SizeOf(job.operation.element);
    return job.values.subspan(part.begin * size, part.count * size);
  }

  // ---- What goes out.

  void SendData(const Job& job, const Part& part) {
    const auto bytes = Bytes(job, part);
    Frame frame;
    frame.kind = FrameKind::kData;
    frame.operation = job.operation;
    frame.turn = now_.number;
    frame.bytes = bytes.size();
    Send(*right_, {.head = Encode(frame), .values = bytes, .is_data = true});
  }

  void Send(Peer& peer, Peer::Outgoing outgoing) {
    if (peer.gone) return;
    peer.outgoing.push_back(std::move(outgoing));
    if (!peer.writing) Write(peer);
  }

  void Write(Peer& peer) {
    peer.writing = true;
    const Peer::Outgoing& first = peer.outgoing.front();
    const std::array<boost::asio::const_buffer, 3> buffers = {
        boost::asio::buffer(first.head),
        boost::asio::buffer(first.values.data(), first.values.size()),
        boost::asio::buffer(first.reason)};
    boost::asio::async_write(peer.socket, buffers,
                             [this, &peer](const ErrorCode& error, size_t) {
                               Written(peer, error);
                             });
  }

  void Written(Peer& peer, const ErrorCode& error) {
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

  // ---- What comes in.

  void ReadHead(Peer& peer) {
    boost::asio::async_read(peer.socket, boost::asio::buffer(peer.head),
                            [this, &peer](const ErrorCode& error, size_t) {
                              if (error) return Lose(peer, error);
                              TakeHead(peer);
                            });
  }

  void TakeHead(Peer& peer) {
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

  void ReadReason(Peer& peer) {
    peer.reason.resize(peer.frame.bytes);
    boost::asio::async_read(
        peer.socket, boost::asio::buffer(peer.reason),
        [this, &peer](const ErrorCode& error, size_t) {
          if (error) return Lose(peer, error);
          if (!failed_) {
            FailFor(peer, " could not go on: " + peer.reason, peer.reason);
          }
          Discard(peer);
        });
  }

  // Too early data stays in the socket until this rank has come so far.
  bool ComesEarly(const Frame& frame) const {
    const uint64_t mine =
        jobs_.empty() ? begun_ : jobs_.front().operation.number;
    if (jobs_.empty()) return frame.operation.number == mine;
    if (frame.operation.number == mine + 1) return true;
    return frame.operation == jobs_.front().operation &&
           (received_ || !now_.in);
  }

  void TakeData(Peer& peer) {
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

  void TakeValues() {
    const Job& job = jobs_.front();
    if (now_.adds) {
      const auto into = Bytes(job, *now_.in);
      AddTo(into, std::span(arrived_).first(into.size()),
            job.operation.element);
    }
    received_ = true;
    EndTurnIfDone();
  }

  // Unread bytes would make the system drop what was said at the close.
  void Discard(Peer& peer) {
    discarded_.resize(kDiscarded);
    peer.socket.async_read_some(boost::asio::buffer(discarded_),
                                [this, &peer](const ErrorCode& error, size_t) {
                                  if (error) return Lose(peer, error);
                                  Discard(peer);
                                });
  }

  void Lose(Peer& peer, const ErrorCode& error) {
    if (peer.gone || closed_) return;
    peer.gone = true;
    // The first may still be on its way.
    while (peer.outgoing.size() > (peer.writing ? 1 : 0)) {
      peer.outgoing.pop_back();
    }
    peer.reason = error == boost::asio::error::eof
                      ? "its connection was closed"
                      : "its connection broke: " + error.message();
    if (!failed_ && !peer.left && !jobs_.empty()) {
      FailFor(peer, " is gone: " + peer.reason);
    }
    CloseIfAllIsSaid();
  }

  // ---- Time.

  void Tick() {
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

  void Beat(steady_clock::time_point now) {
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

  bool SomeoneWaits(steady_clock::time_point now) const {
    for (const auto& peer : peers_) {
      if (peer->waits && now - peer->heard < 4 * BeatPeriod()) return true;
    }
    return false;
  }

  milliseconds BeatPeriod() const {
    return std::min(options_.limit / 10, kLongestBeat);
  }

  void FailForTime(steady_clock::time_point now) {
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

  // ---- The end, a bad one or a good one.

  void FailFor(const Peer& peer, const std::string& what,
               const std::string& told = {}) {
    const std::string mine = jobs_.empty()
                                 ? std::string("between two operations")
                                 : ToText(jobs_.front().operation);
    Fail(mine + ": " + RankText(peer) + what, told);
  }

  // The others are told what this rank was told itself, where it was.
  void Fail(const std::string& message, const std::string& told = {}) {
    if (failed_) return;
    failed_ = true;
    {
      const std::lock_guard lock(mutex_);
      failure_ = message;
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

  void TakeLeave() {
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

  void CloseIfAllIsSaid() {
    if (!closing_ || closed_) return;
    for (const auto& peer : peers_) {
      if (peer->writing || !peer->outgoing.empty()) return;
    }
    Close();
  }

  void Close() {
    closed_ = true;
    ErrorCode ignored;
    for (const auto& peer : peers_) {
      peer->socket.shutdown(tcp::socket::shutdown_both, ignored);
      peer->socket.close(ignored);
    }
    tick_.cancel();
    work_.reset();
  }

  const RingOptions options_;
  uint64_t next_number_ = 0;  // of the owner's thread

  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t done_ = 0;                   // guarded by mutex_
  std::optional<std::string> failure_;  // guarded by mutex_

  std::unique_ptr<boost::asio::io_context> io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type>
      work_;
  boost::asio::steady_timer tick_;
  std::vector<std::unique_ptr<Peer>> peers_;
  Peer* right_ = nullptr;
  Peer* left_ = nullptr;
  std::deque<Job> jobs_;
  uint64_t begun_ = 0;
  int64_t turn_ = -1;
  Turn now_;
  bool sent_ = true, received_ = true;
  std::vector<std::byte> arrived_;
  std::vector<std::byte> discarded_;
  steady_clock::time_point started_, last_beat_, closes_at_;
  bool failed_ = false, closing_ = false, closed_ = false;
  std::jthread thread_;
};

Ring::Ring(std::unique_ptr<Mesh> mesh, const RingOptions& options)
    : engine_(std::make_unique<Engine>(std::move(mesh), options)) {}

Ring::~Ring() = default;

uint64_t Ring::Start(Order order) { return engine_->Start(std::move(order)); }

void Ring::Wait(uint64_t number) { engine_->Wait(number); }

void Ring::Abort(const std::string& reason) { engine_->Abort(reason); }

}  // namespace leadline::collective
