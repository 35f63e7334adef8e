#include "worker/trainer/event_writer.h"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/spec/json_text.h"

namespace leadline::trainer {
namespace {

constexpr size_t kMostLineBytes = size_t{1} << 20U;
constexpr size_t kMostMessageBytes = 4096;

[[noreturn]] void Fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

std::string_view Name(ReplicaState state) {
  switch (state) {
    case ReplicaState::kSucceeded:
      return "succeeded";
    case ReplicaState::kDiverged:
      return "diverged";
    case ReplicaState::kDropped:
      break;
  }
  return "dropped";
}

std::string Object(
    const std::vector<std::pair<std::string, std::string>>& members) {
  JsonLine object;
  for (const auto& [key, json] : members) object.Value(key, json);
  return object.Finish();
}

// Cuts between characters.
std::string Shortened(std::string text) {
  if (text.size() <= kMostMessageBytes) return text;
  size_t end = kMostMessageBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) {
    --end;
  }
  text.resize(end);
  return text;
}

}  // namespace

EventWriter::EventWriter(int descriptor, bool owned)
    : descriptor_(descriptor), owned_(owned) {}

EventWriter::EventWriter(EventWriter&& other) noexcept
    : descriptor_(other.descriptor_),
      owned_(std::exchange(other.owned_, false)),
      brief_(other.brief_),
      wait_(std::move(other.wait_)),
      sequence_(other.sequence_),
      start_(other.start_) {}

EventWriter::~EventWriter() {
  if (owned_) close(descriptor_);
}

EventWriter EventWriter::InFolder(const std::filesystem::path& folder) {
  const std::string path = folder / "events.jsonl";
  const int descriptor =
      open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0) Fail("cannot write " + path);
  EventWriter writer(descriptor, true);
  struct stat status {};
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 ||
      fstat(descriptor, &status) != 0) {
    Fail("cannot hold " + path);
  }
  if (status.st_size != 0) {
    errno = EEXIST;
    Fail(path + " holds the record of another attempt");
  }
  return writer;
}

EventWriter EventWriter::OnStandardOutput() {
  return EventWriter(STDOUT_FILENO, false);
}

double EventWriter::Seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                       start_)
      .count();
}

JsonLine EventWriter::Begin(std::string_view event) {
  JsonLine line;
  line.Text("event", event);
  line.Integer("sequence", ++sequence_);
  line.Number("time_s", Seconds());
  return line;
}

void EventWriter::WriteLine(const JsonLine& line) {
  const std::string bytes = line.Finish() + '\n';
  std::string_view rest = bytes;
  // One call but for a full disk or a full pipe, where the kernel takes part.
  while (!rest.empty()) {
    const ssize_t count = write(descriptor_, rest.data(), rest.size());
    if (count < 0 && (errno == EINTR || MayTryAgain(errno))) {
      continue;
    }
    if (count < 0) Fail("cannot write an event");
    rest.remove_prefix(static_cast<size_t>(count));
  }
  if (wait_) wait_->GoOn();
}

bool EventWriter::MayTryAgain(int error) {
  return wait_ && wait_->After(error);
}

void EventWriter::Sync() {
  while (fsync(descriptor_) != 0) {
    // A pipe or a terminal has nothing to sync.
    if (errno == EINVAL || errno == EROFS) return;
    if (!MayTryAgain(errno)) Fail("cannot sync the events");
  }
  if (wait_) wait_->GoOn();
}

void EventWriter::Write(const StartEvent& event) {
  JsonLine line = Begin("start");
  std::vector<std::pair<std::string, std::string>> libraries;
  for (const auto& [name, version] : event.libraries) {
    libraries.emplace_back(name, spec::JsonText(version));
  }
  line.Text("version", event.version)
      .Text("commit", event.commit)
      .Text("settings_hash", event.settings_hash)
      .Text("data_hash", event.data_hash)
      .Integers("seeds", event.seeds)
      .Text("device", event.device)
      .Integer("threads", event.threads)
      .Text("numerics", event.numerics)
      .Integer("parameters", event.parameters)
      .Integer("tokens_per_step", event.tokens_per_step)
      .Value("libraries", Object(libraries))
      .Value("data", Object(event.data));
  WriteLine(line);
}

void EventWriter::Write(const StepEvent& event) {
  if (brief_) return;
  JsonLine values;
  values.Numbers("train_loss", event.train_loss)
      .Numbers("gradient_norm", event.gradient_norm)
      .Numbers("clip_factor", event.clip_factor);
  JsonLine line = Begin("step");
  line.Integer("step", event.step)
      .Integer("tokens", event.tokens)
      .Value("values", values.Finish())
      .Number("learning_rate", event.learning_rate)
      .Number("step_seconds", event.step_seconds)
      .Number("tokens_per_second", event.tokens_per_second);
  WriteLine(line);
}

void EventWriter::Write(const EvaluationEvent& event) {
  if (brief_) return;
  JsonLine values;
  values.Numbers("loss", event.loss);
  JsonLine line = Begin("evaluation");
  line.Integer("step", event.step)
      .Text("split", event.split)
      .Text("kind", event.fixed ? "fixed" : "full")
      .Value("values", values.Finish());
  if (event.fixed) {
    std::string windows = "[";
    for (const std::vector<double>& replica : event.windows) {
      if (windows.size() > 1) windows += ',';
      windows += JsonNumbers(replica);
    }
    windows += ']';
    // Readers take no longer lines; the means above say what counts.
    const bool fits = windows.size() < kMostLineBytes - 65'536;
    line.Value("windows", fits ? windows : "null");
  }
  line.Number("tokens_per_second", event.tokens_per_second)
      .Integer("peak_bytes", event.peak_bytes);
  WriteLine(line);
}

void EventWriter::Write(const RoutingEvent& event) {
  if (brief_) return;
  std::vector<std::pair<std::string, std::string>> values = event.values;
  size_t size = 0;
  for (const auto& [name, json] : values) size += name.size() + json.size() + 4;
  // Readers take no longer lines: what takes most room goes first.
  while (size > kMostLineBytes - 4096) {
    auto& longest = *std::ranges::max_element(
        values, {}, [](const auto& value) { return value.second.size(); });
    if (longest.second.size() <= 4) break;
    size -= longest.second.size() - 4;
    longest.second = "null";
  }
  JsonLine line = Begin("routing");
  line.Integer("step", event.step)
      .Value("values", Object(values))
      .Integer("replica", event.replica);
  WriteLine(line);
}

void EventWriter::Write(const CheckpointEvent& event) {
  if (brief_) return;
  JsonLine line = Begin("checkpoint");
  line.Integer("step", event.step)
      .Text("folder", event.folder)
      .Integer("bytes", event.bytes)
      .Number("seconds", event.seconds);
  WriteLine(line);
}

void EventWriter::Write(const ReplicaEndEvent& event) {
  if (brief_) return;
  JsonLine line = Begin("replica_end");
  line.Integer("replica", event.replica)
      .Integer("seed", event.seed)
      .Text("state", Name(event.state))
      .Integer("step", event.step)
      .Text("reason", event.reason);
  WriteLine(line);
}

void EventWriter::Write(const ResultEvent& event) {
  if (brief_) return;
  JsonLine line = Begin("result");
  line.Integer("replica", event.replica)
      .Integer("seed", event.seed)
      .Number("validation_loss", event.validation_loss);
  if (event.test_loss) {
    line.Number("test_loss", *event.test_loss);
  } else {
    line.Null("test_loss");
  }
  line.Number("best_validation_loss", event.best_validation_loss)
      .Integer("best_step", event.best_step)
      .Text("unit", event.unit)
      .Integer("steps", event.steps)
      .Integer("tokens", event.tokens)
      .Number("seconds", event.seconds)
      .Integer("peak_bytes", event.peak_bytes)
      .Integer("parameters", event.parameters)
      .Text("determinism", leadline::Name(event.determinism));
  WriteLine(line);
  Sync();
}

void EventWriter::Write(const EndEvent& event) {
  JsonLine line = Begin("end");
  line.Text("outcome", leadline::Name(event.outcome));
  if (event.kind) {
    line.Text("kind", leadline::Name(*event.kind));
  } else {
    line.Null("kind");
  }
  line.Text("message", Shortened(event.message));
  WriteLine(line);
  Sync();
}

}  // namespace leadline::trainer
