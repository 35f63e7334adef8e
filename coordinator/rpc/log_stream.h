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

/// Make it with MakeStream, then Begin once, or Close.
class LogStream final : public ServerStream<v1::LogChunk>,
                        public std::enable_shared_from_this<LogStream> {
 public:
  explicit LogStream(LogSource& source) : source_(source) {}

  /// Sends the whole log of that attempt; `label` names it in every chunk.
  void Begin(const std::string& node, LogQuery query, std::string label);

 private:
  void Drained() override { Ask(); }
  void Ask();
  void OnPiece(absl::StatusOr<LogPiece> piece);

  LogSource& source_;
  // Set by Begin, then touched by one reaction at a time.
  std::string node_;
  LogQuery query_;
  std::string label_;
  bool at_end_ = false;
};

}  // namespace leadline::rpc
