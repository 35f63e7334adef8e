#include "tests/golden/kinds.h"

#include <map>

namespace leadline::golden {

Check CheckOf(const std::string& kind) {
  static const std::map<std::string, Check> kChecks = {
      {"stream", &CheckStreams},  {"signs", &CheckSigns},
      {"data", &CheckDataStarts}, {"router", &CheckRouter},
      {"init", &CheckInit},       {"wiring", &CheckWiring},
      {"model", &CheckModel},     {"own_model", &CheckOwnModel},
      {"train", &CheckTrain},
  };
  const auto found = kChecks.find(kind);
  if (found == kChecks.end())
    throw NotThere("kind " + kind + " is not there yet");
  return found->second;
}

Tolerance ToleranceOf(const GoldenFile& file, torch::ScalarType type) {
  Tolerance tolerance = file.tolerance();
  const bool rounds = file.kind() == "router" || file.kind() == "wiring" ||
                      file.kind() == "model" || file.kind() == "own_model";
  if (type == torch::kFloat32 && rounds) {
    tolerance.forward = 1e-5;
    tolerance.gradient = 5e-4;
    tolerance.gradient_floor = 1e-2;
  }
  return tolerance;
}

}  // namespace leadline::golden
