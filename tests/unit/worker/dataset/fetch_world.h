// A folder, a server with faults, and a data set that it serves.

#pragma once

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/sha256.h"
#include "model/spec/dataset_table.h"
#include "tests/support/paths.h"
#include "worker/dataset/fetch/fetch_dataset.h"

namespace leadline::dataset {

inline std::string Contents(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// Waits until `holds`; the deadline only bounds a failure.
inline void WaitUntil(const std::function<bool()>& holds) {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!holds()) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = testing::TempDir() + "fetch_XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::filesystem::path Script(const std::string& name) {
  return test::SourceDir() / "tests/unit/worker/dataset" / name;
}

/// data_server.py on a port of its own.
class DataServer {
 public:
  explicit DataServer(const std::filesystem::path& folder) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) {
      dup2(ends[1], 1);
      const std::string script = Script("data_server.py");
      execlp("python3", "python3", "-B", script.c_str(), folder.c_str(),
             nullptr);
      _exit(127);
    }
    close(ends[1]);
    FILE* port = fdopen(ends[0], "r");
    if (std::fscanf(port, "%d", &port_) != 1) ADD_FAILURE() << "no server";
    std::fclose(port);
  }
  ~DataServer() { Stop(); }

  void Stop() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

  /// The base of addresses behind which that fault is.
  std::string With(const std::string& fault) const {
    return "http://127.0.0.1:" + std::to_string(port_) + "/" + fault;
  }

 private:
  pid_t pid_ = -1;
  int port_ = 0;
};

class FetchWorld : public testing::Test {
 protected:
  FetchWorld() {
    text_.reserve(300'000);
    for (int i = 0; text_.size() < 300'000; ++i) {
      text_ += "story " + std::to_string(i * 7919) + "\n";
    }
    std::ofstream(served_.path() / "text", std::ios::binary) << text_;
    hash_ = Sha256Of(text_);
    info_.name = "text";
    info_.kind = spec::DatasetKind::kDownload;
    info_.file = "text";
    info_.content_hash = hash_;
    info_.bytes = static_cast<int64_t>(text_.size());
    info_.source.url = "http://elsewhere.invalid/some/where/text";
    options_.folder = mine_.path() / "data";
    options_.limits.pause = std::chrono::milliseconds(1);
    options_.limits.look = std::chrono::milliseconds(5);
    options_.limits.http.stall = std::chrono::seconds(2);
  }

  /// Lines "NAME BEGIN" of what the server was asked for.
  std::vector<std::string> Requests() const {
    std::ifstream file(served_.path() / "requests");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  void Release() const { std::ofstream(served_.path() / "go") << "go"; }

  std::filesystem::path Fetch(const std::string& fault) {
    options_.base_url = server_.With(fault);
    return FetchDataset(info_, options_);
  }

  /// In a process of its own, which ends with 0 if the file is right.
  pid_t FetchInChild(
      const std::string& fault, const std::function<void()>& before = [] {}) {
    options_.base_url = server_.With(fault);
    const pid_t child = fork();
    if (child == 0) {
      before();
      try {
        _exit(Contents(FetchDataset(info_, options_)) == text_ ? 0 : 1);
      } catch (const std::exception& error) {
        std::ofstream(mine_.path() / "fault") << error.what();
        _exit(2);
      }
    }
    return child;
  }

  static int StatusOf(pid_t child) {
    int status = -1;
    waitpid(child, &status, 0);
    return status;
  }

  bool IsThere(const std::string& name) const {
    return std::filesystem::exists(options_.folder / name);
  }
  std::filesystem::path part() const { return options_.folder / "text.part"; }

  ScratchFolder served_;
  ScratchFolder mine_;
  DataServer server_{served_.path()};
  std::string text_;
  std::string hash_;
  spec::DatasetInfo info_;
  FetchOptions options_;
};

}  // namespace leadline::dataset
