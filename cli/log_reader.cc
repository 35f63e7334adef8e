#include "cli/log_reader.h"

#include "common/utf8_prefix.h"

namespace leadline::cli {

absl::StatusOr<LogEnd> ReadLog(
    Connection& connection, const LogPlace& place,
    const std::function<bool(std::string_view, int64_t offset_after)>& take) {
  v1::LogRequest request;
  request.set_trial(place.trial);
  request.set_attempt(place.attempt);
  request.set_stream(place.stream);
  request.set_offset(place.offset);
  request.set_tail(place.tail);
  request.set_rank(place.rank);
  const auto start = [&](grpc::ClientContext* call, auto* reactor) {
    connection.results().async()->ReadLog(call, &request, reactor);
  };
  LogEnd end{"", place.offset, true};
  const absl::Status status = connection.ReadAll<v1::LogChunk>(
      start, [&](const v1::LogChunk& chunk) -> absl::Status {
        end.attempt = chunk.attempt();
        end.offset = chunk.offset() + std::ssize(chunk.data());
        if (take(chunk.data(), end.offset)) return absl::OkStatus();
        end.is_complete = false;
        return absl::CancelledError("nothing more is wanted");
      });
  if (!status.ok() && end.is_complete) return status;
  return end;
}

bool LogPrinter::Add(std::string_view bytes) {
  has_printed_ = has_printed_ || !bytes.empty();
  if (!output_.out().is_terminal) {
    output_.Raw(bytes);
    return output_.is_writable();
  }
  pending_ += bytes;
  const size_t end = pending_.rfind('\n');
  if (end != std::string::npos) Print(end + 1);
  while (pending_.size() > kLongestLine) {
    // Bytes that are no UTF-8 have no place to cut.
    const size_t whole = Utf8Prefix(pending_, kLongestLine).size();
    Print(whole + 4 > kLongestLine ? whole : kLongestLine);
  }
  return output_.is_writable();
}

void LogPrinter::Finish() { Print(pending_.size()); }

void LogPrinter::Print(size_t bytes) {
  if (bytes == 0) return;
  output_.Raw(PrintableLines(pending_.substr(0, bytes), output_.out().charset));
  pending_.erase(0, bytes);
}

}  // namespace leadline::cli
