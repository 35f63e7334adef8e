#include "coordinator/rpc/log_stream.h"

#include "coordinator/rpc/status.h"

namespace leadline::rpc {
namespace {

// Of the protocol: a chunk is below 64 KiB.
constexpr int64_t kPieceBytes = int64_t{60} << 10;

}  // namespace

void LogStream::Begin(const std::string& node, LogQuery query,
                      std::string label) {
  node_ = node;
  query_ = std::move(query);
  query_.offset = 0;
  query_.limit = kPieceBytes;
  label_ = std::move(label);
  Ask();
}

void LogStream::Ask() {
  if (at_end_) return Close(grpc::Status::OK);
  source_.ReadLog(node_, query_,
                  [self = shared_from_this()](absl::StatusOr<LogPiece> piece) {
                    self->OnPiece(std::move(piece));
                  });
}

void LogStream::OnPiece(absl::StatusOr<LogPiece> piece) {
  if (!piece.ok()) return Close(ToGrpc(piece.status()));
  // An agent that sends nothing and promises more would keep us asking.
  at_end_ = piece->at_end || piece->data.empty();
  query_.offset += std::ssize(piece->data);
  v1::LogChunk chunk;
  chunk.set_attempt(label_);
  chunk.set_stream(query_.stream);
  chunk.set_data(std::move(piece->data));
  Send(std::move(chunk));
}

}  // namespace leadline::rpc
