// A trainer without a model: it speaks the event format and misbehaves as the
// file `behaviour` in the agent's state folder says, in one word. A file
// `behaviour.<cohort>` there speaks of that cohort alone.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace {

using nlohmann::ordered_json;

/// Appends events to the attempt's file, each in one write.
class Events {
 public:
  explicit Events(const std::string& folder)
      : file_(open((folder + "/events.jsonl").c_str(),
                   O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {}

  void Raw(const std::string& text) {
    size_t written = 0;
    while (written < text.size()) {
      const ssize_t got =
          write(file_, text.data() + written, text.size() - written);
      if (got <= 0) std::_Exit(7);
      written += static_cast<size_t>(got);
    }
  }

  void Add(const std::string& name, const ordered_json& fields) {
    ordered_json event = {
        {"event", name}, {"sequence", ++sequence_}, {"time_s", 0.5}};
    event.update(fields);
    Raw(event.dump() + "\n");
  }

 private:
  int file_;
  int sequence_ = 0;
};

class Orders {
 public:
  explicit Orders(const std::string& folder)
      : socket_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (chdir(folder.c_str()) != 0) std::_Exit(8);
    std::strcpy(address.sun_path, "orders.sock");
    if (bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) !=
            0 ||
        listen(socket_, 4) != 0) {
      std::_Exit(9);
    }
  }

  /// The next order, or nothing if none comes in time.
  std::string Next(int timeout_ms) {
    std::vector<pollfd> waiting = {
        {connection_ < 0 ? socket_ : connection_, POLLIN, 0}};
    if (poll(waiting.data(), waiting.size(), timeout_ms) <= 0) return {};
    if (connection_ < 0) {
      connection_ = accept(socket_, nullptr, nullptr);
      return {};
    }
    char text[256];
    const ssize_t got = read(connection_, text, sizeof text);
    if (got <= 0) {
      close(connection_);
      connection_ = -1;
      return {};
    }
    return std::string(text, static_cast<size_t>(got));
  }

 private:
  int socket_;
  int connection_ = -1;
};

std::string Behaviour(const std::string& folder) {
  const std::string name = folder.substr(folder.rfind('/') + 1);
  const std::string common = folder + "/../../behaviour";
  std::ifstream own(common + "." + name.substr(0, name.rfind('@')));
  std::ifstream file(common);
  std::string text;
  if (!std::getline(own, text)) std::getline(file, text);
  return text;
}

bool IsFirstAttempt(const std::string& folder) {
  return folder.ends_with("@1");
}

/// 50 MB in lines that name their place.
void WriteMuch() {
  std::string block;
  for (int line = 0; line < 500'000; ++line) {
    char text[128];
    std::snprintf(text, sizeof text, "%08d %s\n", line,
                  "0123456789012345678901234567890123456789012345678901234567"
                  "8901234567890123456789012345678");
    block += text;
    if (block.size() > (1 << 20)) {
      std::cout << block;
      block.clear();
    }
  }
  std::cout << block << std::flush;
}

/// What no terminal should be sent: escapes, bytes that are no text, and a line
/// of 10 MB.
void WriteRubbish() {
  std::cerr << "\x1b]0;title\x07\x1b[2J\x9b"
            << "31m" << '\0' << "\xff\xfe\r\b"
            << "plain\n"
            << std::string(10 << 20, 'x') << "\nafter\n"
            << std::flush;
}

/// One that leaves the group and hears no plain signal. It has left when this
/// returns.
void ForkChildOfAnotherSession(const std::string& folder) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) std::_Exit(10);
  if (fork() == 0) {
    setsid();
    signal(SIGTERM, SIG_IGN);
    std::ofstream(folder + "/child") << getpid() << "\n";
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    while (true) pause();
  }
  close(pipe_ends[1]);
  char nothing;
  while (read(pipe_ends[0], &nothing, 1) > 0) {
  }
}

/// What a library, the system or the C++ runtime says of these ends.
int FailAs(const std::string& word, Events& events) {
  if (word == "full_disk") {
    const int full = open("/dev/full", O_WRONLY);
    if (write(full, "x", 1) < 0) std::perror("cannot write an event");
    return 1;
  }
  if (word == "bad_alloc") {
    const rlimit limit{256 << 20, 256 << 20};
    setrlimit(RLIMIT_AS, &limit);
    std::vector<char> large(size_t{1} << 34);
    return large[1];
  }
  if (word == "cuda") {
    std::cerr << "CUDA error: an illegal memory access was encountered"
              << std::endl;
    std::abort();
  }
  events.Add("end", {{"outcome", "failed"},
                     {"kind", "crash"},
                     {"message", word == "nccl" ? "NCCL error: remote process"
                                                : "ncclCommInitRank failed"}});
  return 1;
}

/// Waits for a file of that name beside `behaviour`.
void AwaitGo(const std::string& folder) {
  while (access((folder + "/../../go").c_str(), F_OK) != 0) usleep(2000);
}

void ForkStubbornChild(int depth) {
  if (depth == 0 || fork() != 0) return;
  signal(SIGTERM, SIG_IGN);
  ForkStubbornChild(depth - 1);
  while (true) pause();
}

ordered_json StartFields(const ordered_json& config) {
  return {{"version", "test"},
          {"commit", "test"},
          {"settings_hash", "00"},
          {"data_hash", "00"},
          {"seeds", config["seeds"]},
          {"device", "cpu"},
          {"threads", 1},
          {"numerics", "test"},
          {"parameters", 10},
          {"tokens_per_step", 64},
          {"libraries", {{"none", "0"}}}};
}

void Train(Events& events, const ordered_json& config, int steps) {
  const size_t replicas = config["seeds"].size();
  events.Add("start", StartFields(config));
  const std::vector<double> ones(replicas, 1.0);
  for (int step = 1; step <= steps; ++step) {
    events.Add("step", {{"step", step},
                        {"tokens", 64 * step},
                        {"values",
                         {{"train_loss", ones},
                          {"gradient_norm", ones},
                          {"clip_factor", ones}}},
                        {"learning_rate", 1e-3},
                        {"step_seconds", 0.01},
                        {"tokens_per_second", 6400.0}});
  }
}

void Finish(Events& events, const ordered_json& config, int steps) {
  for (size_t replica = 0; replica < config["seeds"].size(); ++replica) {
    const auto seed = config["seeds"][replica].get<int64_t>();
    events.Add("result",
               {{"replica", replica},
                {"seed", seed},
                {"validation_loss", 2.0 + static_cast<double>(seed) / 8},
                {"test_loss", 2.5},
                {"best_validation_loss", nullptr},
                {"best_step", nullptr},
                {"unit", "nats/char"},
                {"steps", steps},
                {"tokens", 64 * steps},
                {"seconds", 0.1},
                {"peak_bytes", 1},
                {"parameters", 10},
                {"determinism", "bit_exact"}});
    events.Add("replica_end", {{"replica", replica},
                               {"seed", seed},
                               {"state", "succeeded"},
                               {"step", steps},
                               {"reason", ""}});
  }
  events.Add("end", {{"outcome", "succeeded"}, {"kind", ""}, {"message", ""}});
}

void Diverge(Events& events, const ordered_json& config, int steps) {
  for (size_t replica = 0; replica < config["seeds"].size(); ++replica) {
    events.Add("replica_end", {{"replica", replica},
                               {"seed", config["seeds"][replica]},
                               {"state", "diverged"},
                               {"step", steps},
                               {"reason", "the loss is nan"}});
  }
  events.Add("end", {{"outcome", "succeeded"}, {"kind", ""}, {"message", ""}});
}

int Wait(const std::string& folder, Events& events) {
  Orders orders(folder);
  while (true) {
    const std::string order = orders.Next(1000);
    if (order.find("renew") != std::string::npos) {
      std::ofstream(folder + "/renewed") << "yes\n";
    }
    if (order.find("stop") == std::string::npos) continue;
    events.Add("end", {{"outcome", "stopped"},
                       {"kind", ""},
                       {"message", "stopped by order"}});
    return 0;
  }
}

void EndAs(Events& events, const char* outcome, const char* kind,
           const char* message) {
  events.Add("end",
             {{"outcome", outcome}, {"kind", kind}, {"message", message}});
}

/// Says where it listens, as one of several ranks, and waits until it is told
/// where all do: kept in the file `peers`. False if it is to stop instead.
bool MeetOthers(const std::string& folder, int rank, Orders& orders) {
  std::ofstream(folder + "/address.new")
      << "127.0.0.1:" << 7000 + rank << std::endl;
  std::rename((folder + "/address.new").c_str(), (folder + "/address").c_str());
  while (true) {
    const std::string order = orders.Next(1000);
    if (order.find("\"stop\"") != std::string::npos) return false;
    const size_t line = order.find(R"({"order":"peers")");
    if (line == std::string::npos) continue;
    std::ofstream(folder + "/peers")
        << ordered_json::parse(
               order.substr(line, order.find('\n', line) - line))["peers"]
               .dump()
        << std::endl;
    return true;
  }
}

/// One of several ranks; `behaviour.rank-K` beside `behaviour` is about it.
int RunRank(const ordered_json& config) {
  const std::string folder = config["folder"];
  const int rank = config["world"]["rank"];
  const bool is_below = folder.find("/rank-") != std::string::npos;
  std::ifstream file(folder + (is_below ? "/../../../" : "/../../") +
                     "behaviour.rank-" + std::to_string(rank));
  std::string word;
  file >> word;
  std::cerr << "rank " << rank << " speaks" << std::endl;
  Events events(folder);
  events.Add("start", StartFields(config));
  Orders orders(folder);
  if (!MeetOthers(folder, rank, orders)) {
    EndAs(events, "stopped", "", "stopped by order");
    return 0;
  }
  if (word == "crash") raise(SIGSEGV);
  if (word == "nccl") {
    EndAs(events, "failed", "nccl", "all_reduce: rank 1 is gone");
    return 1;
  }
  while (word == "wait") {
    if (orders.Next(1000).find("\"stop\"") == std::string::npos) continue;
    EndAs(events, "stopped", "", "stopped by order");
    return 0;
  }
  if (rank == 0) {
    Finish(events, config, 0);
  } else {
    EndAs(events, "succeeded", "", "");
  }
  return 0;
}

int Run(const ordered_json& config) {
  if (config["world"]["size"] > 1) return RunRank(config);
  const std::string folder = config["folder"];
  std::istringstream words(Behaviour(folder));
  std::string word;
  words >> word;
  if (word == "exit_at_start") {
    std::cerr << "this trainer does not like its configuration\n";
    return 2;
  }
  if (word == "die_at_start") std::_Exit(3);
  if (word == "killed_at_start") raise(SIGKILL);
  if (word == "silent") return 0;
  Events events(folder);
  if (word == "rubbish") {
    for (int i = 0; i < 50; ++i) events.Raw("}{ not an event \x01\n");
    return 0;
  }
  constexpr int kSteps = 20;
  Train(events, config, kSteps);
  if (word == "crash") raise(SIGSEGV);
  if (word == "fail") {
    events.Add("end", {{"outcome", "failed"},
                       {"kind", "disk"},
                       {"message", "no space left"}});
    return 1;
  }
  if (word == "huge_line") {
    events.Raw(std::string(10 << 20, 'x') + "\n");
  }
  for (const char* failure :
       {"full_disk", "bad_alloc", "cuda", "nccl", "nccl_init"}) {
    if (word == failure) return FailAs(word, events);
  }
  if (word == "much") WriteMuch();
  if (word == "escapes") WriteRubbish();
  if (word == "speak") {
    std::cerr << "first words\n" << std::flush;
    AwaitGo(folder);
    std::cerr << "last words\n" << std::flush;
  }
  if (word == "fail_once") {
    std::cerr << (IsFirstAttempt(folder) ? "the first\n" : "the second\n")
              << std::flush;
    if (IsFirstAttempt(folder)) std::_Exit(4);
  }
  if (word == "hang") pause();
  if (word == "suspend") raise(SIGSTOP);
  if (word == "leave_session") ForkChildOfAnotherSession(folder);
  if (word == "flood") {
    AwaitGo(folder);
    Train(events, config, 100'000);
  }
  if (word == "many") Train(events, config, 20000);
  if (word == "wait") return Wait(folder, events);
  if (word == "speak_and_wait") {
    std::cerr << "first words\n" << std::flush;
    return Wait(folder, events);
  }
  if (word == "stubborn") {
    signal(SIGTERM, SIG_IGN);
    ForkStubbornChild(2);
    while (true) pause();
  }
  if (word == "leave_child") ForkStubbornChild(2);
  if (word == "go") {
    AwaitGo(folder);
    Train(events, config, kSteps);
  }
  if (word == "diverge") {
    Diverge(events, config, kSteps);
    return 0;
  }
  Finish(events, config, kSteps);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  // Whatever a test forgets, this does not stay.
  alarm(120);
  std::ifstream file(argv[1]);
  return Run(ordered_json::parse(file));
}
