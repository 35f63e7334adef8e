#include "tests/unit/worker/trainer/trainer_program.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/sha256.h"
#include "model/spec/dataset_table.h"
#include "worker/dataset/ensure_dataset.h"

namespace leadline::trainer {

using nlohmann::json;

std::vector<json> Outcome::Of(const std::string& event) const {
  std::vector<json> found;
  for (const json& line : events) {
    if (line["event"] == event) found.push_back(line);
  }
  return found;
}

std::string Contents(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

TrainerProgram::TrainerProgram() {
  std::string pattern = testing::TempDir() + "trainer_XXXXXX";
  folder_ = mkdtemp(pattern.data());
}
TrainerProgram::~TrainerProgram() { std::filesystem::remove_all(folder_); }

spec::TrainerConfig TrainerProgram::Config(const std::string& corpus,
                                           spec::GivenSettings given) const {
  given.try_emplace("method", "prenorm");
  given.try_emplace("depth", int64_t{2});
  given.try_emplace("d_model", int64_t{16});
  given.try_emplace("n_heads", int64_t{2});
  given.try_emplace("context", int64_t{16});
  given.try_emplace("batch_sequences", int64_t{4});
  given.try_emplace("steps", int64_t{20});
  given.try_emplace("eval_every", int64_t{10});
  given.try_emplace("eval_windows", int64_t{8});
  given.try_emplace("lr", 1e-2);
  spec::Resolution resolution = spec::Resolve(given);
  EXPECT_TRUE(resolution.errors.empty());
  spec::TrainerConfig config;
  config.settings = resolution.settings;
  config.seeds = {0, 1};
  const spec::DatasetInfo& info = *spec::FindDataset(corpus);
  config.dataset.path = dataset::EnsureDataset(info, DataFolder(), {});
  config.dataset.content_hash = info.content_hash;
  return config;
}

spec::TrainerConfig TrainerProgram::SmallConfig(
    spec::GivenSettings given) const {
  spec::TrainerConfig config = Config("grammar16", std::move(given));
  const std::string text = Contents(config.dataset.path).substr(0, 8000);
  config.dataset.path = folder_ / "text.txt";
  std::ofstream(config.dataset.path) << text;
  config.dataset.content_hash = Sha256Of(text);
  return config;
}

pid_t TrainerProgram::Start(const std::string& config) const {
  std::ofstream(folder_ / "config.json") << config;
  return StartWith(folder_ / "config.json", folder_ / "out");
}

pid_t TrainerProgram::StartWith(const std::string& argument,
                                const std::string& out,
                                const std::string& err_name) const {
  const std::string err = folder_ / err_name;
  const pid_t child = fork();
  if (child == 0) {
    dup2(open(out.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600), 1);
    dup2(open(err.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600), 2);
    execl(LEADLINE_TRAINER_PROGRAM, "leadline-trainer", argument.c_str(),
          nullptr);
    _exit(127);
  }
  return child;
}

bool TrainerProgram::WaitUntil(pid_t child,
                               const std::function<bool()>& is_so) const {
  while (!is_so()) {
    siginfo_t ended{};
    waitid(P_PID, static_cast<id_t>(child), &ended,
           WEXITED | WNOHANG | WNOWAIT);
    if (ended.si_pid == child) return false;
    sched_yield();
  }
  return true;
}

Outcome TrainerProgram::Finish(pid_t child,
                               const std::optional<std::string>& folder,
                               const std::string& err) const {
  Outcome outcome;
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  outcome.errors = Contents(folder_ / err);
  std::istringstream lines(
      Contents(folder ? std::filesystem::path(*folder) / "events.jsonl"
                      : folder_ / "out"));
  for (std::string line; std::getline(lines, line);) {
    outcome.events.push_back(json::parse(line));
  }
  return outcome;
}

Outcome TrainerProgram::Run(const spec::TrainerConfig& config) const {
  return Finish(Start(spec::TrainerConfigJson(config)), config.folder);
}

std::string TrainerProgram::MakeFolder(const std::string& name) const {
  std::filesystem::create_directory(folder_ / name);
  return folder_ / name;
}

int64_t TrainerProgram::BytesUnder(const std::filesystem::path& folder) {
  int64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    bytes += static_cast<int64_t>(entry.file_size());
  }
  return bytes;
}

std::filesystem::path TrainerProgram::DataFolder() {
  return std::filesystem::path(testing::TempDir()) / "leadline_corpora";
}

}  // namespace leadline::trainer
