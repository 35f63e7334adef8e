#include "worker/collective/ring/ring_engine.h"

#include <exception>
#include <utility>

#include <boost/asio/post.hpp>

#include "worker/collective/ring/collective_error.h"

namespace leadline::collective {
namespace {

using std::chrono::steady_clock;

}  // namespace

Ring::Engine::Engine(std::unique_ptr<Mesh> mesh, const RingOptions& options)
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

// Where there is no memory left to post it, nothing better is left to do.
// NOLINTNEXTLINE(bugprone-exception-escape)
Ring::Engine::~Engine() {
  boost::asio::post(*io_, [this] { TakeLeave(); });
  thread_.join();
  // Handlers that are left hold nothing of their own; sockets go first.
  peers_.clear();
}

uint64_t Ring::Engine::Start(Order order) {
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

void Ring::Engine::Wait(uint64_t number) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_ > number || failure_; });
  if (done_ <= number) throw OperationError(*failure_);
}

void Ring::Engine::Abort(const std::string& reason) {
  boost::asio::post(*io_, [this, reason] {
    if (!failed_) Fail(reason, reason);
  });
}

Ring::Outlook Ring::Engine::Look() const {
  const std::lock_guard lock(mutex_);
  return {.failure = cause_, .lost = lost_, .others_wait = others_wait_};
}

void Ring::Engine::Run() {
  for (const auto& peer : peers_) ReadHead(*peer);
  Tick();
  try {
    io_->run();
  } catch (const std::exception& error) {
    // Memory has run out, or the like: who waits must hear of it.
    const std::lock_guard lock(mutex_);
    failure_ = std::string("the thread of the ring failed: ") + error.what();
    cause_ = *failure_;
    changed_.notify_all();
  }
}

Peer* Ring::Engine::At(int64_t rank) {
  for (const auto& peer : peers_) {
    if (peer->rank == rank) return peer.get();
  }
  return nullptr;
}

void Ring::Engine::BeginJob() {
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

bool Ring::Engine::IsMissed(const Peer& peer, const Job& job) {
  if (!peer.left) return peer.gone;
  return job.operation.number >= peer.through;
}

void Ring::Engine::NextTurn() {
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

void Ring::Engine::EndTurnIfDone() {
  if (sent_ && received_ && !failed_) NextTurn();
}

void Ring::Engine::EndJob() {
  jobs_.pop_front();
  {
    const std::lock_guard lock(mutex_);
    ++done_;
  }
  changed_.notify_all();
  if (!jobs_.empty()) BeginJob();
}

std::span<std::byte> Ring::Engine::Bytes(const Job& job, const Part& part) {
  const size_t size = SizeOf(job.operation.element);
  return job.values.subspan(part.begin * size, part.count * size);
}

}  // namespace leadline::collective
