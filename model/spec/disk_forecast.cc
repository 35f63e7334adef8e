#include "model/spec/disk_forecast.h"

#include <algorithm>

#include "model/spec/cost.h"

namespace leadline::spec {

int64_t ForecastCheckpointBytes(const Settings& settings,
                                std::optional<int64_t> vocabulary,
                                int64_t replicas) {
  const Value& every = settings.values().at("checkpoint_every");
  if (every == Value("off")) return 0;
  const int64_t wide = settings.Word("precision") == "fp64" ? 8 : 4;
  // Values and two moments.
  const double one = 3.0 * static_cast<double>(wide) *
                     static_cast<double>(replicas) *
                     static_cast<double>(CountParameters(settings, vocabulary));
  double count = 1;
  if (every != Value("end")) {
    const double steps = static_cast<double>(settings.Integer("steps"));
    const auto* given = std::get_if<int64_t>(&every);
    const double most = given ? steps / static_cast<double>(*given) + 1 : steps;
    // The newest and the one being written; those asked for also the best of
    // each replica.
    const double kept =
        static_cast<double>(settings.Integer("checkpoint_keep") + 1);
    count = std::min(most, given ? kept + static_cast<double>(replicas) : kept);
  }
  constexpr double kMost = 0x1p62;
  return static_cast<int64_t>(std::min(kMost, one * count));
}

}  // namespace leadline::spec
