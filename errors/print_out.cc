#include "errors/print_out.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "errors/error_code.h"

namespace leadline {

absl::Status PrintOut(std::string_view text) {
  errno = 0;
  const bool is_written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
      std::fflush(stdout) == 0;
  if (is_written) return absl::OkStatus();
  return WithError(
      absl::UnknownError(std::string("cannot write standard output: ") +
                         std::strerror(errno)),
      ErrorCode::kOutput);
}

}  // namespace leadline
