#include "coordinator/rpc/log_stream.h"

#include <algorithm>

#include "coordinator/rpc/status.h"
#include "errors/error_code.h"

namespace leadline::rpc {
namespace {

// Of the protocol: a chunk is below 64 KiB.
constexpr int64_t kPieceBytes = int64_t{60} << 10;

}  // namespace

void LogStream::Begin(const std::string& node, LogQuery query,
                      const LogPart& part, std::string label) {
  node_ = node;
  query_ = std::move(query);
  query_.limit = kPieceBytes;
  label_ = std::move(label);
  wanted_lines_ = part.tail;
  if (part.tail > 0) return AskForSize();
  BeginAt(part.offset);
}

void LogStream::AskForSize() {
  query_.offset = 0;
  query_.limit = 1;
  source_.ReadLog(node_, query_,
                  [self = shared_from_this()](absl::StatusOr<LogPiece> piece) {
                    if (!piece.ok()) return self->Fail(piece.status());
                    self->end_ = self->looked_from_ = piece->size;
                    self->AskBackwards();
                  });
}

void LogStream::AskBackwards() {
  if (looked_from_ <= 0) return BeginAt(0);
  query_.offset = std::max<int64_t>(0, looked_from_ - kPieceBytes);
  query_.limit = looked_from_ - query_.offset;
  source_.ReadLog(node_, query_,
                  [self = shared_from_this()](absl::StatusOr<LogPiece> piece) {
                    self->OnEarlierPiece(std::move(piece));
                  });
}

void LogStream::OnEarlierPiece(absl::StatusOr<LogPiece> piece) {
  if (!piece.ok()) return Fail(piece.status());
  const std::string& data = piece->data;
  // Shorter than it was: it is being removed. What is left is sent whole.
  if (std::ssize(data) < query_.limit) return BeginAt(0);
  const bool is_last = looked_from_ == end_;
  for (int64_t i = std::ssize(data) - 1; i >= 0; --i) {
    if (data[static_cast<size_t>(i)] != '\n') continue;
    if (is_last && i == std::ssize(data) - 1) continue;  // ends the last line
    if (--wanted_lines_ == 0) return BeginAt(query_.offset + i + 1);
  }
  looked_from_ = query_.offset;
  AskBackwards();
}

void LogStream::BeginAt(int64_t offset) {
  query_.offset = offset;
  query_.limit = kPieceBytes;
  Ask();
}

void LogStream::Fail(const absl::Status& status) {
  if (absl::IsUnavailable(status)) {
    return Close(
        ToGrpc(WithError(absl::FailedPreconditionError(status.message()),
                         ErrorCode::kNodeAway)));
  }
  Close(ToGrpc(absl::Status(
      status.code(), "node " + node_ + ": " + std::string(status.message()))));
}

void LogStream::Ask() {
  if (at_end_) return Close(grpc::Status::OK);
  source_.ReadLog(node_, query_,
                  [self = shared_from_this()](absl::StatusOr<LogPiece> piece) {
                    self->OnPiece(std::move(piece));
                  });
}

void LogStream::OnPiece(absl::StatusOr<LogPiece> piece) {
  if (!piece.ok()) return Fail(piece.status());
  // An agent that sends nothing and promises more would keep us asking.
  at_end_ = piece->at_end || piece->data.empty();
  v1::LogChunk chunk;
  chunk.set_offset(query_.offset);
  query_.offset += std::ssize(piece->data);
  chunk.set_attempt(label_);
  chunk.set_stream(query_.stream);
  chunk.set_data(std::move(piece->data));
  Send(std::move(chunk));
}

}  // namespace leadline::rpc
