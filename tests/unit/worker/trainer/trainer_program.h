// Runs the trainer as a program: configuration in, events out.

#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/types.h>

#include "model/spec/identity.h"

namespace leadline::trainer {

struct Outcome {
  int exit_code = -1;  // -1: ended by a signal
  std::vector<nlohmann::json> events;
  std::string errors;

  std::vector<nlohmann::json> Of(const std::string& event) const;
};

std::string Contents(const std::filesystem::path& path);

/// A test with a folder of its own.
class TrainerProgram : public testing::Test {
 protected:
  TrainerProgram();
  ~TrainerProgram() override;

  /// Two seeds, 20 steps of a small model; `given` on top.
  spec::TrainerConfig Config(const std::string& corpus,
                             spec::GivenSettings given) const;
  /// On a small text instead of a corpus, so that full evaluations take no
  /// time.
  spec::TrainerConfig SmallConfig(spec::GivenSettings given = {}) const;

  pid_t Start(const std::string& config) const;
  /// Standard output goes to the file `out`, standard error to `err` in the
  /// test's folder.
  pid_t StartWith(const std::string& argument, const std::string& out,
                  const std::string& err = "err") const;
  /// Waits until it is so; false if the program has ended before.
  bool WaitUntil(pid_t child, const std::function<bool()>& is_so) const;
  /// Waits for its end; events are those in `folder`, else what it printed.
  Outcome Finish(pid_t child, const std::optional<std::string>& folder = {},
                 const std::string& err = "err") const;
  Outcome Run(const spec::TrainerConfig& config) const;

  std::string MakeFolder(const std::string& name) const;
  static int64_t BytesUnder(const std::filesystem::path& folder);
  static std::filesystem::path DataFolder();

  std::filesystem::path folder_;
};

}  // namespace leadline::trainer
