// Hears the signals that end a program.

#pragma once

#include <csignal>
#include <thread>

#include "worker/agent/agent.h"

namespace leadline::agent {

/// Waits for the signals that end a program and tells the agent.
class SignalThread {
 public:
  explicit SignalThread(Agent& agent)
      : thread_([&agent](const std::stop_token& stop) {
          const sigset_t signals = Signals();
          const timespec rest{0, 100'000'000};
          while (!stop.stop_requested()) {
            if (sigtimedwait(&signals, nullptr, &rest) > 0) agent.Stop();
          }
        }) {}

  /// In main, before any other thread: so all of them inherit the mask.
  static void Block() {
    std::signal(SIGPIPE, SIG_IGN);
    // A file that may not grow is a full disk, and no end.
    std::signal(SIGXFSZ, SIG_IGN);
    const sigset_t signals = Signals();
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  }

 private:
  static sigset_t Signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
      sigaddset(&signals, number);
    }
    return signals;
  }

  std::jthread thread_;
};

}  // namespace leadline::agent
