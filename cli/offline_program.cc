#include "cli/offline_program.h"

#include "cli/other_program.h"

namespace leadline::cli {

absl::Status BecomeOfflineProgram(Context& context,
                                  std::vector<std::string> words) {
  const auto place = ChoosePlace(context.place, ReadPlaceVariables());
  if (!place.ok()) return place.status();
  if (!place->is_local()) {
    return absl::InvalidArgumentError(
        "this works on a state folder, on its own machine, while its "
        "coordinator is stopped: name it with --state DIR");
  }
  words.insert(words.end(), {"--state", place->state.string()});
  if (context.output.json()) words.emplace_back("--json");
  return BecomeProgram(context.output, "leadline-coordinator",
                       std::move(words));
}

}  // namespace leadline::cli
