#include "worker/agent/event_tail.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <absl/status/status.h>
#include <fcntl.h>
#include <unistd.h>

namespace leadline::agent {
namespace {

constexpr size_t kBlockBytes = 64 << 10;
constexpr int64_t kMarkEvery = 256;

}  // namespace

EventTail::EventTail(std::filesystem::path path)
    : path_(std::move(path)), marks_{{0, 0}} {}

EventTail::~EventTail() {
  if (file_ >= 0) close(file_);
}

absl::StatusOr<std::optional<EventLine>> EventTail::Next() {
  while (true) {
    const size_t newline = block_.find('\n', searched_);
    if (newline != std::string::npos) return TakeLine(newline);
    searched_ = block_.size();
    if (skipping_ || block_.size() - taken_ > kLongestLine) {
      skipping_ = true;
      offset_ += static_cast<int64_t>(block_.size());
      block_.clear();
      taken_ = searched_ = 0;
    }
    absl::StatusOr<bool> more = Fill();
    if (!more.ok()) return more.status();
    if (!*more) return std::nullopt;
  }
}

EventLine EventTail::TakeLine(size_t newline) {
  EventLine line;
  line.sequence = ++sequence_;
  line.too_long = skipping_ || newline - taken_ > kLongestLine;
  if (!line.too_long) line.text = block_.substr(taken_, newline - taken_);
  skipping_ = false;
  taken_ = searched_ = newline + 1;
  if (sequence_ == marks_.back().sequence + kMarkEvery) {
    marks_.push_back({sequence_, offset_ + static_cast<int64_t>(taken_)});
  }
  return line;
}

absl::StatusOr<bool> EventTail::Fill() {
  if (file_ < 0) {
    // A link or a pipe in its place would be another's doing.
    file_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file_ < 0 && errno == ENOENT) return false;
    if (file_ < 0) {
      return absl::UnavailableError("cannot open " + path_.string() + ": " +
                                    std::strerror(errno));
    }
  }
  if (taken_ > 0) {
    offset_ += static_cast<int64_t>(taken_);
    block_.erase(0, taken_);
    searched_ -= taken_;
    taken_ = 0;
  }
  const size_t held = block_.size();
  block_.resize(held + kBlockBytes);
  const ssize_t got = pread(file_, block_.data() + held, kBlockBytes,
                            offset_ + static_cast<int64_t>(held));
  block_.resize(held + static_cast<size_t>(got > 0 ? got : 0));
  if (got < 0 && errno != EINTR) {
    return absl::UnavailableError("cannot read " + path_.string() + ": " +
                                  std::strerror(errno));
  }
  return got > 0;
}

absl::Status EventTail::SeekAfter(int64_t sequence) {
  if (sequence >= sequence_) return absl::OkStatus();
  while (marks_.back().sequence > sequence && marks_.size() > 1) {
    marks_.pop_back();
  }
  offset_ = marks_.back().offset;
  sequence_ = marks_.back().sequence;
  block_.clear();
  taken_ = searched_ = 0;
  skipping_ = false;
  while (sequence_ < sequence) {
    absl::StatusOr<std::optional<EventLine>> line = Next();
    if (!line.ok()) return line.status();
    if (!*line) break;
  }
  return absl::OkStatus();
}

}  // namespace leadline::agent
