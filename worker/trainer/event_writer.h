// The record of an attempt: one JSON object a line, complete before the next.

#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "worker/trainer/events.h"
#include "worker/trainer/json_line.h"
#include "worker/trainer/room_wait.h"

namespace leadline::trainer {

/// Each event is one write(2) of a whole line. Throws std::system_error if a
/// line cannot be written. Owned by one thread.
/// A full disk is such an error, unless it is waited for.
class EventWriter {
 public:
  /// Appends to `events.jsonl` of `folder`, which must be empty or not there
  /// yet, and holds its lock: two trainers never share a record.
  static EventWriter InFolder(const std::filesystem::path& folder);
  static EventWriter OnStandardOutput();

  EventWriter(EventWriter&& other) noexcept;
  EventWriter& operator=(EventWriter&&) = delete;
  ~EventWriter();

  /// From now on a full disk is waited for.
  void WaitWith(RoomWait wait) { wait_ = std::move(wait); }

  /// From now on only `start` and `end` are written: another rank tells the
  /// rest.
  void TellStartAndEndAlone() { brief_ = true; }

  void Write(const StartEvent& event);
  void Write(const StepEvent& event);
  void Write(const EvaluationEvent& event);
  void Write(const RoutingEvent& event);
  void Write(const CheckpointEvent& event);
  void Write(const ReplicaEndEvent& event);
  void Write(const ResultEvent& event);  // on disk when it returns
  void Write(const EndEvent& event);     // likewise

  /// Since this writer was made.
  double Seconds() const;

 private:
  EventWriter(int descriptor, bool owned);
  bool MayTryAgain(int error);
  JsonLine Begin(std::string_view event);
  void WriteLine(const JsonLine& line);
  void Sync();

  int descriptor_;
  bool owned_;
  bool brief_ = false;
  std::optional<RoomWait> wait_;
  int64_t sequence_ = 0;
  std::chrono::steady_clock::time_point start_ =
      std::chrono::steady_clock::now();
};

}  // namespace leadline::trainer
