#include "cli/interrupts.h"

#include <csignal>
#include <cstdint>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/exit_code.h"

namespace leadline::cli {

Interrupts::Interrupts() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // What nohup and the like had ignored stays ignored.
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaddset(&set, signal);
  }
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = signalfd(-1, &set, SFD_CLOEXEC);
  ended_ = eventfd(0, EFD_CLOEXEC);
  thread_ = std::jthread([this] { Listen(); });
}

Interrupts::~Interrupts() {
  const uint64_t one = 1;
  if (write(ended_, &one, sizeof one) == sizeof one) thread_.join();
  close(signals_);
  close(ended_);
}

void Interrupts::SetLastWords(std::string text) {
  const std::lock_guard lock(mutex_);
  last_words_ = std::move(text);
}

void Interrupts::EndProgram() {
  const std::lock_guard lock(mutex_);
  // The code tells the same to whoever does not read it.
  (void)!write(STDERR_FILENO, last_words_.data(), last_words_.size());
  _exit(static_cast<int>(ExitCode::kInterrupted));
}

void Interrupts::Listen() {
  pollfd waits[2] = {{signals_, POLLIN, 0}, {ended_, POLLIN, 0}};
  while (true) {
    if (poll(waits, 2, -1) < 0) continue;
    if ((waits[1].revents & POLLIN) != 0) return;
    signalfd_siginfo info{};
    if (read(signals_, &info, sizeof info) != sizeof info) continue;
    if (!deferred_ || happened_.exchange(true)) EndProgram();
  }
}

}  // namespace leadline::cli
