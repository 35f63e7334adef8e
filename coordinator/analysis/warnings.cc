#include "coordinator/analysis/warnings.h"

#include <algorithm>
#include <bit>
#include <map>

#include "model/spec/method_table.h"

namespace leadline::analysis {
namespace {

constexpr size_t kMostNamed = 5;

void AddOnce(std::vector<std::string>& words, const std::string& word) {
  const bool known = std::find(words.begin(), words.end(), word) != words.end();
  if (!known && !word.empty() && words.size() < kMostNamed) {
    words.push_back(word);
  }
}

std::string Joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += between;
    text += word;
  }
  return text;
}

std::string OfPlanned(const CellSample& cell, int64_t count) {
  return cell.cell + " (" + std::to_string(count) + " of " +
         std::to_string(cell.planned) + ")";
}

// "s1.3 (seeds 0 and 1)" for the first two seeds with one loss; else empty.
std::string EqualSeeds(const CellSample& cell) {
  std::map<uint64_t, int64_t> seen;
  for (const SeedLoss& seed : cell.seeds) {
    const auto [first, fresh] =
        seen.emplace(std::bit_cast<uint64_t>(seed.value), seed.seed);
    if (fresh) continue;
    return cell.cell + " (seeds " + std::to_string(first->second) + " and " +
           std::to_string(seed.seed) + ")";
  }
  return "";
}

// "name: caveat" of the method; empty where it has none.
std::string CaveatOf(const std::string& label) {
  const std::string name = label.substr(0, label.find('('));
  const spec::MethodInfo* method = spec::FindMethod(name);
  if (method == nullptr || method->caveat.empty()) return "";
  return name + " is " + std::string(method->caveat);
}

}  // namespace

void Warnings::Trouble::Name(const std::string& text) {
  ++cells;
  if (named.size() < kMostNamed) named.push_back(text);
}

void Warnings::Add(const CellSample& cell) {
  if (const std::string equal = EqualSeeds(cell); !equal.empty()) {
    equal_.Name(equal);
  }
  if (cell.diverged > 0) diverged_.Name(OfPlanned(cell, cell.diverged));
  if (cell.failed > 0) failed_.Name(OfPlanned(cell, cell.failed));
  const int64_t missing =
      cell.planned - std::ssize(cell.seeds) - cell.diverged - cell.failed;
  if (ended_ && missing > 0) missing_.Name(OfPlanned(cell, missing));
  for (const SeedLoss& seed : cell.seeds) AddOnce(numerics_, seed.numerics);
  AddOnce(units_, cell.unit);
  AddOnce(caveats_, CaveatOf(cell.method));
}

std::string Warnings::Line(const Trouble& trouble, const std::string& meaning) {
  std::string text = meaning + ": " + Joined(trouble.named, ", ");
  const int64_t more = trouble.cells - std::ssize(trouble.named);
  if (more > 0) text += " and " + std::to_string(more) + " more cells";
  return text;
}

std::vector<std::string> Warnings::Lines() const {
  std::vector<std::string> lines;
  if (equal_.cells > 0) {
    lines.push_back(Line(equal_,
                         "seeds with losses equal to the last bit count once, "
                         "as one run told twice"));
  }
  if (diverged_.cells > 0) {
    lines.push_back(
        Line(diverged_, "seeds diverged and are not part of the mean"));
  }
  if (failed_.cells > 0) {
    lines.push_back(Line(failed_, "seeds failed and have no value"));
  }
  if (missing_.cells > 0) {
    lines.push_back(Line(missing_, "seeds have no value"));
  }
  if (numerics_.size() > 1) {
    lines.push_back(
        "losses come from different numerics, whose last bits "
        "differ: " +
        Joined(numerics_, ", "));
  }
  if (units_.size() > 1) {
    lines.push_back("cells have different units and do not compare: " +
                    Joined(units_, ", "));
  }
  lines.insert(lines.end(), caveats_.begin(), caveats_.end());
  return lines;
}

}  // namespace leadline::analysis
