#include "cli/offline_program.h"

#include <filesystem>

#include "cli/exit_code.h"
#include "cli/other_program.h"

namespace leadline::cli {
namespace {

namespace fs = std::filesystem;

absl::StatusOr<fs::path> ChooseState(const PlaceOptions& options,
                                     const std::string& word) {
  PlaceVariables variables = ReadPlaceVariables();
  // Of the two variables only this one can be meant.
  if (!variables.state.empty()) variables.coordinator.clear();
  const auto place = ChoosePlace(options, variables);
  if (!place.ok()) return place.status();
  if (place->is_local()) return place->state;
  const bool by_variable = options.coordinator.empty();
  return At(absl::InvalidArgumentError(
                word +
                " works on a state folder, on its own machine, while "
                "its coordinator is stopped: name it with --state DIR" +
                (by_variable ? ", as LEADLINE_COORDINATOR is set"
                             : " instead of --coordinator")),
            by_variable ? "LEADLINE_COORDINATOR" : "--coordinator");
}

}  // namespace

absl::Status BecomeOfflineProgram(Context& context, const OfflineWork& work) {
  std::vector<std::string> words = {work.word};
  const auto state = ChooseState(context.place, work.word);
  std::error_code error;
  if (state.ok()) {
    words.insert(words.end(), {"--state", state->string()});
  } else if (work.needs_state &&
             (work.file.empty() || fs::exists(work.file, error))) {
    return state.status();
  }
  if (context.output.json()) words.emplace_back("--json");
  // Last, and after what ends the flags: it may begin with a dash.
  if (!work.file.empty()) words.insert(words.end(), {"--", work.file});
  return BecomeProgram(context.output, "leadline-coordinator",
                       std::move(words));
}

}  // namespace leadline::cli
