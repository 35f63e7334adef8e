// Streams a log piece by piece: the next one is asked for when the last one has
// been taken.

#pragma once

#include <memory>
#include <string>
#include <utility>

#include "coordinator/rpc/log_source.h"
#include "coordinator/rpc/stream.h"
#include "leadline/v1/results_service.pb.h"

namespace leadline::rpc {

/// Which part of a log is wanted.
struct LogPart {
  int64_t offset = 0;  // bytes to leave out
  int64_t tail = 0;    // the last lines alone; 0: all. Not with an offset
};

/// Make it with MakeStream, then Begin once, or Close.
class LogStream final : public ServerStream<v1::LogChunk>,
                        public std::enable_shared_from_this<LogStream> {
 public:
  explicit LogStream(LogSource& source) : source_(source) {}

  /// Sends what there is of that attempt's log; `label` names it in every
  /// chunk. At least one chunk is sent.
  void Begin(const std::string& node, LogQuery query, const LogPart& part,
             std::string label);

 private:
  void Drained() override { Ask(); }
  void Ask();
  void OnPiece(absl::StatusOr<LogPiece> piece);

  // The place where the last lines begin is looked for from the end, so that
  // nobody ever holds more than a piece.
  void AskForSize();
  void AskBackwards();
  void OnEarlierPiece(absl::StatusOr<LogPiece> piece);
  void BeginAt(int64_t offset);
  void Fail(const absl::Status& status);

  LogSource& source_;
  // Set by Begin, then touched by one reaction at a time.
  std::string node_;
  LogQuery query_;
  std::string label_;
  bool at_end_ = false;
  int64_t wanted_lines_ = 0;
  int64_t end_ = 0;          // of the log as the search began
  int64_t looked_from_ = 0;  // all behind it is counted
};

}  // namespace leadline::rpc
