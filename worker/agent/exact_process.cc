#include "worker/agent/exact_process.h"

#include <utility>

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace leadline::agent {

std::optional<ExactProcess> ExactProcess::Find(pid_t pid, uint64_t start_time) {
  FileDescriptor handle(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  // Looked at after the handle is there: from then on it is of that process.
  const auto stat = ReadProcStat(pid);
  if (!handle || !stat || stat->start_time != start_time || !stat->IsAlive()) {
    return std::nullopt;
  }
  return ExactProcess(std::move(handle));
}

bool ExactProcess::HasEnded() const {
  pollfd wait{handle_.get(), POLLIN, 0};
  return poll(&wait, 1, 0) > 0;
}

void ExactProcess::Signal(int signal) const {
  syscall(SYS_pidfd_send_signal, handle_.get(), signal, nullptr, 0);
}

void SignalExactly(const ProcStat& process, int signal) {
  const auto found = ExactProcess::Find(process.pid, process.start_time);
  if (found) found->Signal(signal);
}

}  // namespace leadline::agent
