#include "worker/trainer/progress.h"

#include <cstdio>

#include <unistd.h>

namespace leadline::trainer {

Progress::Progress(int64_t steps, bool silent)
    : steps_(steps), terminal_(!silent && isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_) std::fputc('\n', stderr);
}

void Progress::Show(int64_t step, double loss, double tokens_per_second,
                    double seconds_left) {
  if (!terminal_) return;
  shown_ = true;
  std::fprintf(stderr,
               "\r\033[Kstep %lld of %lld, loss %.4f, %.0f tokens/s, %.0f s "
               "left",
               static_cast<long long>(step), static_cast<long long>(steps_),
               loss, tokens_per_second, seconds_left);
}

void Progress::Show(const char* what) {
  if (!terminal_) return;
  shown_ = true;
  std::fprintf(stderr, "\r\033[K%s", what);
}

}  // namespace leadline::trainer
