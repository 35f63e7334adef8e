// Random sweeps: the plan is what nested loops over all axes would give,
// whatever order the file's keys stand in.

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "common/random_stream.h"
#include "coordinator/spec_reader/spec_reader.h"
#include "coordinator/sweep/plan.h"
#include "model/spec/identity.h"
#include "tests/property/sweep/random_sweep.h"

namespace leadline::sweep {
namespace {

constexpr uint64_t kSweeps = 600;

Sweep Read(const std::string& text) {
  const spec_reader::Reading reading = spec_reader::ReadSweep(
      "leadline: 1\n" + text, "/data",
      [](const std::string&,
         const std::string&) -> absl::StatusOr<spec_reader::DataFacts> {
        return absl::NotFoundError("no files here");
      });
  // Options of a method may have lost their method; such sweeps do not count.
  return reading.ok() ? reading.sweep : Sweep{};
}

/// What a plan should be, made the slow and plain way.
struct Expected {
  int64_t points = 0;
  int64_t kept = 0;
  std::vector<int64_t> excluded_by;
  std::vector<int64_t> matched_by_when;
  std::vector<std::string> hashes;  // in order, each once
};

class NestedLoops {
 public:
  explicit NestedLoops(const Sweep& sweep) : sweep_(sweep) {
    expected_.excluded_by.resize(sweep.exclude.size());
    expected_.matched_by_when.resize(sweep.when.size());
  }

  Expected Run() {
    Loop(0);
    return std::move(expected_);
  }

 private:
  void Loop(size_t axis) {
    if (axis == sweep_.axes.size()) return Visit();
    for (size_t i = 0; i < sweep_.axes[axis].values.size(); ++i) {
      index_.push_back(i);
      Loop(axis + 1);
      index_.pop_back();
    }
  }

  size_t IndexOf(const std::string& key) const {
    for (size_t a = 0; a < sweep_.axes.size(); ++a) {
      if (sweep_.axes[a].key == key) return index_[a];
    }
    return 0;
  }

  bool AdvancesTogether() const {
    return std::ranges::all_of(sweep_.zips, [&](const Zip& zip) {
      return IndexOf(zip.keys[0]) == IndexOf(zip.keys[1]);
    });
  }

  static std::string Text(const Choice& choice) {
    if (const auto* value = std::get_if<spec::Value>(&choice.value)) {
      return spec::ToText(*value);
    }
    if (const auto* method = std::get_if<Method>(&choice.value)) {
      return method->name;
    }
    return std::get<spec::Dataset>(choice.value).name;
  }

  const Choice& ChoiceOf(const std::string& key) const {
    for (size_t a = 0; a < sweep_.axes.size(); ++a) {
      if (sweep_.axes[a].key == key) return sweep_.axes[a].values[index_[a]];
    }
    return std::ranges::find(sweep_.fixed, key, &Axis::key)->values[0];
  }

  bool IsMatched(const Rule& rule) const {
    return std::ranges::all_of(rule.match, [&](const Axis& pattern) {
      return std::ranges::any_of(pattern.values, [&](const Choice& member) {
        return Text(member) == Text(ChoiceOf(pattern.key));
      });
    });
  }

  void Visit() {
    if (!AdvancesTogether()) return;
    ++expected_.points;
    bool is_excluded = false;
    for (size_t i = 0; i < sweep_.exclude.size(); ++i) {
      if (!IsMatched(sweep_.exclude[i])) continue;
      is_excluded = true;
      ++expected_.excluded_by[i];
    }
    if (is_excluded) return;
    ++expected_.kept;
    AddCell();
  }

  void AddCell() {
    spec::GivenSettings given;
    for (const auto* axes : {&sweep_.fixed, &sweep_.axes}) {
      for (const Axis& axis : *axes) {
        const Choice& choice = ChoiceOf(axis.key);
        if (const auto* value = std::get_if<spec::Value>(&choice.value)) {
          given[axis.key] = *value;
        }
      }
    }
    given["method"] = std::get<Method>(ChoiceOf("method").value).name;
    for (size_t i = 0; i < sweep_.when.size(); ++i) {
      if (!IsMatched(sweep_.when[i].rule)) continue;
      ++expected_.matched_by_when[i];
      for (const Option& option : sweep_.when[i].set) {
        given[option.key] = option.value;
      }
    }
    const spec::Resolution cell = spec::Resolve(given);
    if (!cell.errors.empty()) {
      is_valid_ = false;
      return;
    }
    const std::string hash = spec::CellHash(
        cell.settings, std::get<spec::Dataset>(ChoiceOf("dataset").value));
    if (seen_.insert(hash).second) expected_.hashes.push_back(hash);
  }

  const Sweep& sweep_;
  std::vector<size_t> index_;
  std::set<std::string> seen_;
  bool is_valid_ = true;
  Expected expected_;
};

std::vector<std::string> Hashes(const Plan& plan) {
  std::vector<std::string> hashes;
  for (const PlannedCell& cell : plan.list) hashes.push_back(cell.hash);
  return hashes;
}

bool MatchesSomething(const Expected& expected) {
  return expected.kept > 0 && std::ranges::find(expected.matched_by_when, 0) ==
                                  expected.matched_by_when.end();
}

TEST(Expansion, IsWhatNestedLoopsGive) {
  int planned = 0;
  for (uint64_t seed = 0; seed < kSweeps; ++seed) {
    RandomSweep random(seed);
    const std::string text = random.Write(random.Parts());
    const Sweep sweep = Read(text);
    if (sweep.axes.empty()) continue;
    const Expected expected = NestedLoops(sweep).Run();
    const Planning planning = MakePlan(sweep);
    if (!planning.ok()) {
      // wav with too short blocks, or a rule that matches nothing
      continue;
    }
    ++planned;
    const Plan& plan = planning.plan;
    ASSERT_TRUE(MatchesSomething(expected)) << text;
    ASSERT_EQ(Hashes(plan), expected.hashes) << text;
    ASSERT_EQ(plan.cells + *plan.duplicates, expected.kept) << text;
    ASSERT_EQ(plan.excluded, expected.points - expected.kept) << text;
    std::vector<int64_t> rules = expected.excluded_by;
    rules.insert(rules.end(), expected.matched_by_when.begin(),
                 expected.matched_by_when.end());
    for (size_t i = 0; i < rules.size(); ++i) {
      ASSERT_EQ(plan.rules[i].cells, rules[i]) << text;
    }
  }
  EXPECT_GT(planned, 150) << "most random sweeps should be good ones";
}

TEST(Expansion, RefusesExactlyTheSweepsWhoseRulesMatchNothing) {
  int refused = 0;
  for (uint64_t seed = 0; seed < kSweeps; ++seed) {
    RandomSweep random(seed);
    const Sweep sweep = Read(random.Write(random.Parts()));
    if (sweep.axes.empty()) continue;
    const Expected expected = NestedLoops(sweep).Run();
    if (MatchesSomething(expected)) continue;
    ++refused;
    ASSERT_FALSE(MakePlan(sweep).ok()) << seed;
  }
  EXPECT_GT(refused, 10);
}

TEST(Expansion, DoesNotDependOnTheOrderOfKeys) {
  for (uint64_t seed = 0; seed < kSweeps; ++seed) {
    RandomSweep random(seed);
    const SweepParts parts = random.Parts();
    const Sweep first = Read(random.Write(parts));
    if (first.axes.empty()) continue;
    const Sweep second = Read(random.Write(parts));
    ASSERT_EQ(CanonicalText(first), CanonicalText(second)) << seed;
    ASSERT_EQ(Hashes(MakePlan(first).plan), Hashes(MakePlan(second).plan));
  }
}

/// One sweep in two forms: options as axes, and as options of its methods.
struct TwoForms {
  std::string flat;
  std::string nested;
};

TwoForms RandomForms(uint64_t seed) {
  const RandomStream draws(seed, "test/forms");
  uint64_t next = 0;
  const auto below = [&](uint64_t n) { return draws.Integer(next++, n); };
  const std::vector<std::string> rhos = {"2", "4", "8"};
  const std::vector<std::string> inits = {"1e-4", "1.0", "0.5"};
  const size_t rho_count = 1 + below(3);
  const size_t init_count = 1 + below(3);
  TwoForms forms;
  std::string flat_methods = "layerscale, wav";
  for (size_t i = 0; i < init_count; ++i) {
    forms.nested += "{name: layerscale, init: " + inits[i] + "}, ";
  }
  for (size_t i = 0; i < rho_count; ++i) {
    forms.nested += "{name: wav, rho: " + rhos[i] + "}, ";
  }
  if (below(2) == 0) {
    flat_methods += ", prenorm";
    forms.nested += "prenorm, ";
  }
  const auto list = [](const std::vector<std::string>& values, size_t count) {
    std::string text = "[";
    for (size_t i = 0; i < count; ++i) text += (i > 0 ? ", " : "") + values[i];
    return text + "]";
  };
  const std::string before =
      "seeds: 2\naxes:\n" +
      std::string(below(2) == 0 ? "  depth: [4, 8]\n" : "") + "  method: [";
  const std::string after = std::string("  dataset: [iid27]\n") +
                            (below(2) == 0 ? "  lr: [1e-3, 2e-3]\n" : "");
  forms.flat = before + flat_methods + "]\n  init: " + list(inits, init_count) +
               "\n  rho: " + list(rhos, rho_count) + "\n" + after;
  forms.nested = before + forms.nested + "]\n" + after;
  return forms;
}

TEST(Expansion, IsTheSameFromNestedAndFlatForms) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const TwoForms forms = RandomForms(seed);
    const Planning flat = MakePlan(Read(forms.flat));
    const Planning nested = MakePlan(Read(forms.nested));
    ASSERT_TRUE(flat.ok() && nested.ok()) << forms.flat << forms.nested;
    ASSERT_FALSE(flat.plan.list.empty());
    ASSERT_EQ(Hashes(flat.plan), Hashes(nested.plan))
        << forms.flat << forms.nested;
    for (size_t i = 0; i < flat.plan.list.size(); ++i) {
      ASSERT_EQ(flat.plan.list[i].method_label,
                nested.plan.list[i].method_label);
    }
  }
}

}  // namespace
}  // namespace leadline::sweep
