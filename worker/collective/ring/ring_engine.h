// What a ring does, on a thread of its own. Seen by the files of Ring alone.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "worker/collective/ring/mesh.h"
#include "worker/collective/ring/peer.h"
#include "worker/collective/ring/ring.h"
#include "worker/collective/ring/ring_plan.h"

namespace leadline::collective {

/// The owner's thread calls what is public, and only posts or waits; Abort and
/// Look may be called by any.
class Ring::Engine {
 public:
  Engine(std::unique_ptr<Mesh> mesh, const RingOptions& options);
  ~Engine();  // NOLINT(bugprone-exception-escape)
  uint64_t Start(Order order);
  void Wait(uint64_t number);
  void Abort(const std::string& reason);
  Outlook Look() const;

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;

  struct Job {
    Operation operation;
    std::span<std::byte> values;
    std::shared_ptr<const void> keep;
    std::chrono::milliseconds limit{0};
  };

  // ---- All below runs on the ring's own thread.
  void Run();
  Peer* At(int64_t rank);

  // ---- The operation that is the first: ring_engine.cc
  void BeginJob();
  /// It left or has gone, and has not done its part of that operation.
  static bool IsMissed(const Peer& peer, const Job& job);
  void NextTurn();
  void EndTurnIfDone();
  void EndJob();
  std::span<std::byte> Bytes(const Job& job, const Part& part);

  // ---- What goes out: ring_traffic.cc
  void SendData(const Job& job, const Part& part);
  void Send(Peer& peer, Peer::Outgoing outgoing);
  void Write(Peer& peer);
  void Written(Peer& peer, const boost::system::error_code& error);

  // ---- What comes in: ring_traffic.cc
  void ReadHead(Peer& peer);
  void TakeHead(Peer& peer);
  void ReadReason(Peer& peer);
  bool ComesEarly(const Frame& frame) const;
  void TakeData(Peer& peer);
  void TakeValues();
  void Discard(Peer& peer);
  void Lose(Peer& peer, const boost::system::error_code& error);

  // ---- Time: ring_time.cc
  void Tick();
  void Beat(SteadyTime now);
  bool SomeoneWaits(SteadyTime now);
  std::chrono::milliseconds BeatPeriod() const;
  void FailForTime(SteadyTime now);

  // ---- The end, a bad one or a good one: ring_end.cc
  void FailFor(const Peer& peer, const std::string& what,
               const std::string& told = {});
  void Fail(const std::string& message, const std::string& told = {},
            const std::string& cause = {});
  void TakeLeave();
  void CloseIfAllIsSaid();
  void Close();

  const RingOptions options_;
  uint64_t next_number_ = 0;  // of the owner's thread

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t done_ = 0;                   // guarded by mutex_
  std::optional<std::string> failure_;  // guarded by mutex_
  std::string cause_;         // without what was done then; guarded by mutex_
  std::string lost_;          // guarded by mutex_
  bool others_wait_ = false;  // guarded by mutex_

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
  SteadyTime started_, last_beat_, closes_at_;
  bool failed_ = false, closing_ = false, closed_ = false;
  std::jthread thread_;
};

}  // namespace leadline::collective
