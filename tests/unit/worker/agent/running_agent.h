// An agent on a thread of its own, in a state folder of its own, with the test
// trainer.

#pragma once

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/support/kept_log.h"
#include "tests/support/paths.h"
#include "tests/support/scratch_folder.h"
#include "worker/agent/agent.h"
#include "worker/agent/proc_stat.h"
#include "worker/agent/process_group.h"

namespace leadline::agent {

class RunningAgent {
 public:
  explicit RunningAgent(const std::string& coordinator,
                        AgentOptions options = {})
      : options_(Complete(std::move(options), coordinator, state_.path())),
        agent_(options_, FindTestData, log_),
        thread_([this] { end_ = agent_.Run(); }) {}
  ~RunningAgent() { (void)Stop(); }

  /// Behaviour of the trainers that start from now on.
  void Behave(const std::string& word) {
    std::ofstream(state_.path() / "behaviour") << word;
  }

  absl::Status Stop() {
    if (thread_.joinable()) {
      agent_.Stop();
      thread_.join();
    }
    return end_;
  }

  /// Waits for an end of its own accord.
  absl::Status Join() {
    thread_.join();
    return end_;
  }

  const std::filesystem::path& state() const { return state_.path(); }
  test::KeptLog& log() { return log_; }

 private:
  static absl::StatusOr<std::string> FindTestData(const v1::Dataset& dataset,
                                                  const FindOptions& options) {
    if (dataset.name() == "text8") {  // fetched, and never done
      options.tell("fetching text8.zip: 12 of 32 MB");
      std::mutex mutex;
      std::unique_lock lock(mutex);
      std::condition_variable_any().wait(lock, options.stop,
                                         [] { return false; });
      return absl::CancelledError("stopped");
    }
    if (dataset.name() == "broken") throw std::runtime_error("it broke");
    if (dataset.name() == "missing") {
      return absl::NotFoundError("no such data set");
    }
    if (dataset.name() == "full_disk") {
      return absl::UnavailableError("no space left on device");
    }
    return "/data/" + dataset.name();
  }

  static AgentOptions Complete(AgentOptions options,
                               const std::string& coordinator,
                               const std::filesystem::path& state) {
    options.identity.state = state;
    options.checkpoints = state / "checkpoints";
    if (options.trainer.empty()) {
      options.trainer = test::BuildDir() / "tests" / "test_trainer";
    }
    options.identity.node = "node";
    options.identity.host = "host";
    options.identity.instance = "instance";
    options.identity.boot_id = ReadBootId();
    if (options.identity.devices.empty()) {
      options.identity.devices = CpuSlots(4);
    }
    options.session.coordinator = coordinator;
    options.session.least_wait = std::chrono::milliseconds(10);
    options.session.most_wait = std::chrono::milliseconds(50);
    options.policy.last_stop = {std::chrono::milliseconds(200),
                                std::chrono::milliseconds(200)};
    return options;
  }

  ScratchFolder state_;
  test::KeptLog log_;
  AgentOptions options_;
  absl::Status end_;
  Agent agent_;
  std::thread thread_;
};

/// An order to train one seed on one device.
inline v1::CoordinatorMessage StartOrder(int64_t cohort,
                                         const std::string& device = "cpu:0",
                                         int64_t number = 1) {
  v1::CoordinatorMessage message;
  v1::StartAttempt& order = *message.mutable_start();
  order.mutable_attempt()->set_cohort("s1." + std::to_string(cohort) + ".c0");
  order.mutable_attempt()->set_number(number);
  (*order.mutable_settings())["depth"].set_integer(4);
  (*order.mutable_settings())["threads"].set_integer(1);
  (*order.mutable_settings())["method"].set_word("wav");
  order.add_seeds(0);
  order.add_seeds(1);
  order.mutable_dataset()->set_name("corpus");
  order.add_devices(device);
  return message;
}

inline v1::CoordinatorMessage StopOrder(int64_t cohort, int64_t number = 1) {
  v1::CoordinatorMessage message;
  v1::StopAttempt& order = *message.mutable_stop();
  order.mutable_attempt()->set_cohort("s1." + std::to_string(cohort) + ".c0");
  order.mutable_attempt()->set_number(number);
  order.set_reason("cancelled");
  return message;
}

}  // namespace leadline::agent
