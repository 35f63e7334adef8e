#include "tests/property/sweep/random_sweep.h"

#include <algorithm>

namespace leadline::sweep {
namespace {

struct Candidate {
  std::string key;
  std::vector<std::string> values;
};

const std::vector<Candidate>& Candidates() {
  static const std::vector<Candidate> candidates = {
      {"depth", {"2", "4", "6"}},    {"lr", {"1e-3", "2e-3", "1e-2"}},
      {"steps", {"10", "20", "30"}}, {"rho", {"2", "4.0", "8"}},
      {"blocks", {"1", "2", "3"}},   {"clip", {"off", "1.0", "2"}},
      {"threads", {"1", "2", "3"}},  {"init", {"1e-4", "1", "0.1"}},
  };
  return candidates;
}

std::string List(const std::vector<std::string>& values) {
  std::string text = "[";
  for (const std::string& value : values) {
    text += (text.size() > 1 ? ", " : "") + value;
  }
  return text + "]";
}

}  // namespace

template <typename Items>
void RandomSweep::Shuffle(Items& items) {
  for (size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[Below(i)]);
  }
}

SweepParts::Map RandomSweep::Pattern(const SweepParts& parts) {
  SweepParts::Map map;
  for (const auto& [key, values] : parts.axes) {
    if (Below(3) != 0) continue;
    const std::string& one = values[Below(values.size())];
    const std::string& other = values[Below(values.size())];
    map.emplace_back(key, Below(2) == 0 ? one : List({one, other}));
  }
  if (map.empty()) map.emplace_back("method", "wav");
  return map;
}

SweepParts RandomSweep::Parts() {
  SweepParts parts;
  parts.axes.push_back({"method", {"layerscale", "wav", "prenorm"}});
  parts.axes.push_back({"dataset", {"iid27"}});
  if (Below(2) == 0) parts.axes.back().second.push_back("recall");
  for (const Candidate& candidate : Candidates()) {
    const size_t use = Below(4);
    std::vector<std::string> values = candidate.values;
    values.resize(1 + Below(3));
    if (use == 0) parts.settings.emplace_back(candidate.key, values[0]);
    if (use == 1) parts.axes.emplace_back(candidate.key, values);
  }
  Shuffle(parts.axes);
  std::vector<std::string> pair;
  for (const auto& [key, values] : parts.axes) {
    if (values.size() == 3 && pair.size() < 2) pair.push_back(key);
  }
  if (pair.size() == 2 && Below(2) == 0) parts.zips.push_back(pair);
  for (size_t i = Below(4); i > 0; --i) parts.exclude.push_back(Pattern(parts));
  for (size_t i = Below(3); i > 0; --i) {
    const SweepParts::Map set = {{"weight_decay", "0." + std::to_string(i)},
                                 {"lr", "3e-3"}};
    parts.when.emplace_back(Pattern(parts), set);
  }
  return parts;
}

std::string RandomSweep::WriteMap(SweepParts::Map map) {
  Shuffle(map);
  std::string text = "{";
  for (const auto& [key, value] : map) {
    text += (text.size() > 1 ? ", " : "") + key + ": " + value;
  }
  return text + "}";
}

std::string RandomSweep::Write(const SweepParts& parts) {
  SweepParts::Map rules;
  std::string axes;
  for (const auto& [key, values] : parts.axes) {
    axes += "\n  " + key + ": " + List(values);
  }
  std::vector<std::string> lists[3];
  for (const auto& zip : parts.zips) lists[0].push_back(List(zip));
  for (const auto& rule : parts.exclude) lists[1].push_back(WriteMap(rule));
  for (const auto& [match, set] : parts.when) {
    lists[2].push_back("{match: " + WriteMap(match) +
                       ", set: " + WriteMap(set) + "}");
  }
  std::vector<std::string> blocks = {
      "seeds: 2",
      "axes:" + axes,
      "settings: " + WriteMap(parts.settings),
      "zip: " + List(lists[0]),
      "exclude: " + List(lists[1]),
      "when: " + List(lists[2]),
  };
  Shuffle(blocks);
  std::string text;
  for (const std::string& block : blocks) text += block + "\n";
  return text;
}

}  // namespace leadline::sweep
