// Reads a trainer's event file line by line while it grows.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

namespace leadline::agent {

/// One line, without its newline.
struct EventLine {
  int64_t sequence = 0;  // line number, from 1
  std::string text;      // empty if it was too long
  bool too_long = false;
};

/// The lines of one trainer, in order. A line counts once its newline is there.
class EventLines {
 public:
  virtual ~EventLines() = default;

  /// The next line, null if there is none yet (or no file). An I/O error is
  /// Unavailable.
  virtual absl::StatusOr<std::optional<EventLine>> Next() = 0;

  /// Number of the last line read.
  virtual int64_t sequence() const = 0;

  /// Goes on after line `sequence`, at most to where was read before.
  virtual absl::Status SeekAfter(int64_t sequence) = 0;
};

/// What stands after the last newline of the file is not read yet. Holds at
/// most one line and one block in memory, however large the file. Owned by one
/// thread.
class EventTail final : public EventLines {
 public:
  explicit EventTail(std::filesystem::path path);
  ~EventTail() override;
  EventTail(const EventTail&) = delete;
  EventTail& operator=(const EventTail&) = delete;

  absl::StatusOr<std::optional<EventLine>> Next() override;
  int64_t sequence() const override { return sequence_; }
  absl::Status SeekAfter(int64_t sequence) override;

  /// Longest line that is an event, its newline not counted.
  static constexpr size_t kLongestLine = 1 << 20;

 private:
  struct Mark {
    int64_t sequence;
    int64_t offset;  // of the byte after that line
  };

  absl::StatusOr<bool> Fill();
  EventLine TakeLine(size_t newline);

  std::filesystem::path path_;
  int file_ = -1;
  int64_t offset_ = 0;     // of block_[0] in the file
  std::string block_;      // read and not yet taken
  size_t taken_ = 0;       // bytes of block_ already taken
  size_t searched_ = 0;    // bytes of block_ known to hold no newline
  bool skipping_ = false;  // inside a line that is too long
  int64_t sequence_ = 0;
  std::vector<Mark> marks_;  // every kMarkEvery lines, to go back by
};

}  // namespace leadline::agent
