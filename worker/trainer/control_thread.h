// Hears signals and orders while the main thread trains.

#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include <sys/types.h>

#include "common/trainer_silence.h"
#include "worker/trainer/run_control.h"

namespace leadline::trainer {

/// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int number() const { return number_; }

 private:
  int number_;
};

struct ControlOptions {
  /// Where `orders.sock` is made; null: signals alone.
  std::optional<std::filesystem::path> folder;
  /// With a folder: without an order for so long, the trainer ends itself.
  std::chrono::milliseconds longest_silence = kTrainerSilence;
};

/// SIGTERM and SIGINT ask for a stop, a second one ends the process at once.
/// Orders come on a Unix socket, JSON lines from any number of connections.
/// A thread that cannot go on stops the run. Block signals (BlockStopSignals)
/// before any thread is started. Throws std::system_error if the socket cannot
/// be made.
class ControlThread {
 public:
  ControlThread(const ControlOptions& options, RunControl& control);
  ~ControlThread();
  ControlThread(const ControlThread&) = delete;
  ControlThread& operator=(const ControlThread&) = delete;

 private:
  struct Connection {
    Descriptor socket;
    std::string pending;  // of a line that is not whole yet
  };

  void Listen(const std::filesystem::path& folder);
  void Run();
  void Serve();
  void HearSignal();
  void Accept();
  /// False once the connection is over.
  bool Hear(Connection& connection);
  void Answer(const Connection& connection) const;
  void Obey(std::string_view line);
  int MillisecondsOfPatience() const;

  RunControl& control_;
  std::chrono::milliseconds longest_silence_;
  std::chrono::steady_clock::time_point last_order_;
  Descriptor signals_;
  Descriptor wake_;  // readable once the thread shall end
  Descriptor listener_;
  std::string socket_path_;
  std::map<int, Connection> connections_;
  bool stopped_by_signal_ = false;
  std::jthread thread_;
};

/// SIGTERM and SIGINT wait for ControlThread, SIGPIPE becomes an error of
/// write. For the calling thread and those it starts.
void BlockStopSignals();

}  // namespace leadline::trainer
