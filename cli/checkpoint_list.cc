#include "cli/checkpoint_list.h"

#include <string_view>

#include <fmt/format.h>

#include "cli/numbers.h"
#include "common/human_number.h"

namespace leadline::cli {
namespace {

// Lines are written by our trainer; those of other events are long and many.
constexpr size_t kShown = 5;
constexpr std::string_view kStart = R"({"event":"checkpoint",)";
constexpr size_t kLongestLine = 1 << 20;

class CheckpointLines {
 public:
  void Add(const std::string& bytes) {
    pending_ += bytes;
    size_t begin = 0;
    for (size_t end = pending_.find('\n'); end != std::string::npos;
         end = pending_.find('\n', begin)) {
      Take(std::string_view(pending_).substr(begin, end - begin));
      begin = end + 1;
    }
    pending_.erase(0, begin);
    if (pending_.size() > kLongestLine) pending_.clear();
  }

  std::vector<CheckpointLine> Done() { return std::move(found_); }

 private:
  void Take(std::string_view line) {
    if (!line.starts_with(kStart)) return;
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_discarded()) return;
    const auto step = json.find("step");
    const auto folder = json.find("folder");
    const auto bytes = json.find("bytes");
    if (step == json.end() || !step->is_number_integer() ||
        folder == json.end() || !folder->is_string() || bytes == json.end() ||
        !bytes->is_number_integer()) {
      return;
    }
    found_.push_back({step->get<int64_t>(), folder->get<std::string>(),
                      bytes->get<int64_t>()});
  }

  std::string pending_;
  std::vector<CheckpointLine> found_;
};

}  // namespace

absl::StatusOr<std::vector<CheckpointLine>> FetchCheckpoints(
    Connection& connection, const std::string& trial, int64_t attempt) {
  v1::LogRequest request;
  request.set_trial(trial);
  request.set_attempt(attempt);
  request.set_stream("events");
  CheckpointLines lines;
  const auto start = [&](grpc::ClientContext* call, auto* reactor) {
    connection.results().async()->ReadLog(call, &request, reactor);
  };
  absl::Status status =
      connection.ReadAll<v1::LogChunk>(start, [&](const v1::LogChunk& chunk) {
        lines.Add(chunk.data());
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  return lines.Done();
}

std::string RenderCheckpoints(const std::vector<CheckpointLine>& checkpoints,
                              const Style& style) {
  if (checkpoints.empty()) return "checkpoints: none yet\n";
  std::string text =
      "checkpoints that the last attempt wrote (leadline checkpoints tells "
      "which are kept):\n";
  const size_t before =
      checkpoints.size() > kShown ? checkpoints.size() - kShown : 0;
  if (before > 0) {
    text += fmt::format("  {} before these\n",
                        Grouped(static_cast<int64_t>(before)));
  }
  for (size_t i = before; i < checkpoints.size(); ++i) {
    const CheckpointLine& one = checkpoints[i];
    text += fmt::format("  step {}, {}: {}\n", Grouped(one.step),
                        HumanBytes(one.bytes), style.Clean(one.folder));
  }
  return text;
}

Json CheckpointsJson(const std::vector<CheckpointLine>& checkpoints) {
  Json list = Json::array();
  for (const CheckpointLine& one : checkpoints) {
    list.push_back(
        {{"step", one.step}, {"folder", one.folder}, {"bytes", one.bytes}});
  }
  return list;
}

}  // namespace leadline::cli
