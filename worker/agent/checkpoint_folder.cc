#include "worker/agent/checkpoint_folder.h"

#include <system_error>

#include "worker/agent/attempt_folder.h"

namespace leadline::agent {
namespace {

namespace fs = std::filesystem;

// As trainers know it.
constexpr const char* kLink = "checkpoints";

fs::path CohortFolder(const fs::path& checkpoints, const AttemptKey& attempt) {
  return checkpoints / ToText(attempt.cohort);
}

bool IsEmpty(const fs::path& folder) {
  std::error_code error;
  const fs::directory_iterator entries(folder, error);
  return error || entries == fs::directory_iterator();
}

absl::Status Failure(const std::string& doing, const fs::path& path,
                     const std::error_code& error) {
  return absl::UnavailableError(doing + " " + path.string() + ": " +
                                error.message());
}

}  // namespace

std::optional<std::string> FindCheckpoints(const fs::path& checkpoints,
                                           const AttemptKey& attempt) {
  const fs::path folder = CohortFolder(checkpoints, attempt);
  if (attempt.number <= 1 || IsEmpty(folder)) return std::nullopt;
  return folder.string();
}

absl::Status LinkCheckpoints(const fs::path& checkpoints,
                             const AttemptKey& attempt,
                             const fs::path& attempt_folder) {
  const fs::path folder = CohortFolder(checkpoints, attempt);
  if (attempt.number <= 1 && !IsEmpty(folder)) {
    if (absl::Status moved = MoveAside(folder); !moved.ok()) return moved;
  }
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return Failure("cannot make", folder, error);
  fs::create_directory_symlink(folder, attempt_folder / kLink, error);
  if (error) return Failure("cannot make", attempt_folder / kLink, error);
  return absl::OkStatus();
}

bool HasNoCheckpoints(const fs::path& attempt_folder) {
  return IsEmpty(attempt_folder / kLink);
}

}  // namespace leadline::agent
