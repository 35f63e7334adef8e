// Attempts on this machine: a folder each, a process group each.

#pragma once

#include <filesystem>
#include <string>

#include "worker/agent/attempt_host.h"

namespace leadline::agent {

class LocalHost final : public AttemptHost {
 public:
  struct Options {
    std::filesystem::path state;    // absolute
    std::filesystem::path trainer;  // the program
    std::string boot_id;
  };

  explicit LocalHost(Options options) : options_(std::move(options)) {}

  std::string Folder(const AttemptKey& attempt) const override;
  absl::StatusOr<std::unique_ptr<Trainer>> Start(const AttemptKey& attempt,
                                                 const std::string& config,
                                                 int64_t threads) override;
  std::unique_ptr<EventLines> Events(const AttemptKey& attempt) override;

 private:
  const Options options_;
};

}  // namespace leadline::agent
