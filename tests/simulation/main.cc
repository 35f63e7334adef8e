// Plays schedules of faults against the programs' own logic:
//   simulation --seeds A:B [--keep I,J,...] [--plant NAME]
//   simulation --seeds A:B --all-plants
// Exits 1 at the first schedule after which a property does not hold, with the
// fewest faults that break it and the command that plays them again.

#include <charconv>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "simulation.h"

namespace leadline::simulation {
namespace {

struct Flags {
  std::string seeds = "0:2000";
  std::vector<int64_t> keep;
  std::string plant;
  bool list_plants = false;
  bool all_plants = false;
  bool trace = false;
};

struct Range {
  uint64_t first = 0;
  uint64_t last = 0;  // not part of it
};

bool ParseRange(const std::string& text, Range& range) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return false;
  const char* const end = text.data() + text.size();
  const auto first =
      std::from_chars(text.data(), text.data() + colon, range.first);
  const auto last = std::from_chars(text.data() + colon + 1, end, range.last);
  return first.ec == std::errc() && first.ptr == text.data() + colon &&
         last.ec == std::errc() && last.ptr == end && range.first < range.last;
}

Script Kept(Script script, const std::vector<int64_t>& keep) {
  if (keep.empty()) return script;
  std::vector<Fault> faults;
  for (const int64_t f : keep) {
    if (f >= 0 && f < std::ssize(script.faults)) {
      faults.push_back(script.faults[static_cast<size_t>(f)]);
    }
  }
  script.faults = std::move(faults);
  return script;
}

/// Places in the drawn script of the faults that are left.
std::string PlacesOf(const Script& least) {
  const Script drawn = DrawScript(least.seed);
  std::string places;
  for (size_t f = 0; f < drawn.faults.size(); ++f) {
    for (const Fault& fault : least.faults) {
      if (fault.at_s != drawn.faults[f].at_s) continue;
      places += (places.empty() ? "" : ",") + std::to_string(f);
    }
  }
  return places.empty() ? "-1" : places;
}

void Explain(const Script& script, const Flags& flags, Plant plant,
             const Outcome& outcome) {
  std::printf("seed %llu: %s (at %.1f s)\n",
              static_cast<unsigned long long>(script.seed),
              outcome.violation->c_str(), outcome.at_s);
  const Script least = Shrink(script, plant);
  const Outcome again = Play(least, plant, true);
  std::printf("fewest faults that break it:\n");
  for (const Fault& fault : least.faults) {
    std::printf("  %s\n", ToText(fault).c_str());
  }
  std::printf("trace:\n");
  constexpr size_t kMostLines = 60;
  const size_t lines = again.trace.size();
  for (size_t l = lines > kMostLines ? lines - kMostLines : 0; l < lines; ++l) {
    std::printf("  %s\n", again.trace[l].c_str());
  }
  std::printf("%s\nplay it again: simulation --seeds %llu:%llu --keep %s%s%s\n",
              again.violation.value_or("").c_str(),
              static_cast<unsigned long long>(script.seed),
              static_cast<unsigned long long>(script.seed + 1),
              PlacesOf(least).c_str(), flags.plant.empty() ? "" : " --plant ",
              flags.plant.c_str());
}

/// Every planted defect must be found; says after how many schedules.
int DemandAllPlants(const Range& range) {
  int missed = 0;
  for (const PlantInfo& info : kPlants) {
    uint64_t seed = range.first;
    std::optional<std::string> violation;
    for (; seed < range.last && !violation; ++seed) {
      violation = Play(DrawScript(seed), info.plant).violation;
    }
    std::printf("%-26s %5llu schedules: %s\n", std::string(info.name).c_str(),
                static_cast<unsigned long long>(seed - range.first),
                violation.value_or("NOT FOUND").c_str());
    missed += violation ? 0 : 1;
  }
  return missed == 0 ? 0 : 1;
}

int Run(const Flags& flags) {
  Range range;
  if (!ParseRange(flags.seeds, range)) {
    std::fprintf(stderr, "simulation: --seeds takes FIRST:LAST, not %s\n",
                 flags.seeds.c_str());
    return 2;
  }
  if (flags.all_plants) return DemandAllPlants(range);
  const std::optional<Plant> plant =
      flags.plant.empty() ? Plant::kNone : FindPlant(flags.plant);
  if (!plant) {
    std::fprintf(stderr, "simulation: no plant %s; --list-plants lists them\n",
                 flags.plant.c_str());
    return 2;
  }
  const auto begun = std::chrono::steady_clock::now();
  std::array<int64_t, kFaultKinds.size()> faults{};
  int64_t attempts = 0;
  int64_t steps = 0;
  for (uint64_t seed = range.first; seed < range.last; ++seed) {
    const Script script = Kept(DrawScript(seed), flags.keep);
    const Outcome outcome = Play(script, *plant, flags.trace);
    for (const std::string& line : outcome.trace) std::puts(line.c_str());
    if (outcome.violation) {
      std::printf("%llu schedules were played\n",
                  static_cast<unsigned long long>(seed - range.first + 1));
      Explain(script, flags, *plant, outcome);
      return 1;
    }
    for (size_t k = 0; k < faults.size(); ++k) faults[k] += outcome.faults[k];
    attempts += outcome.attempts;
    steps += outcome.steps;
  }
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - begun;
  std::printf("%llu schedules, %lld attempts, %lld steps, %.1f s; faults:\n",
              static_cast<unsigned long long>(range.last - range.first),
              static_cast<long long>(attempts), static_cast<long long>(steps),
              took.count());
  for (const FaultKind kind : kFaultKinds) {
    std::printf("  %-18s %lld\n", std::string(Name(kind)).c_str(),
                static_cast<long long>(faults[static_cast<size_t>(kind)]));
  }
  return 0;
}

}  // namespace
}  // namespace leadline::simulation

int main(int argc, char** argv) {
  CLI::App app{"plays schedules of faults against the programs' own logic"};
  leadline::simulation::Flags flags;
  app.add_option("--seeds", flags.seeds, "FIRST:LAST, LAST not included");
  app.add_option("--keep", flags.keep, "leave out all faults but these")
      ->delimiter(',');
  app.add_option("--plant", flags.plant, "plant that defect");
  app.add_flag("--all-plants", flags.all_plants,
               "plant each defect in turn, and demand that it is found");
  app.add_flag("--list-plants", flags.list_plants,
               "list the defects there are");
  app.add_flag("--trace", flags.trace, "print what the programs log");
  CLI11_PARSE(app, argc, argv);
  if (flags.list_plants) {
    for (const auto& info : leadline::simulation::kPlants) {
      std::printf("%-26s %s\n", std::string(info.name).c_str(),
                  std::string(info.defect).c_str());
    }
    return 0;
  }
  return leadline::simulation::Run(flags);
}
