#include "cli/heat_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include <absl/strings/numbers.h>
#include <fmt/format.h>

#include "cli/routing_map.h"

namespace leadline::cli {
namespace {

constexpr size_t kNameColumn = 16;

struct Map {
  std::vector<std::string> sources;  // columns
  std::vector<std::map<std::string, double>> rows;
  double largest = 0;
};

// Null, embedding, updates, states, blocks, the running partial, details, the
// rest; each by number.
std::pair<int, int64_t> Rank(const std::string& source) {
  const size_t digit = source.find_first_of("0123456789");
  int64_t number = 0;
  if (digit != std::string::npos) {
    (void)absl::SimpleAtoi(source.substr(digit), &number);
  }
  const std::string word = source.substr(0, digit);
  static constexpr std::array<const char*, 10> kOrder = {
      "null", "e", "u", "h", "C", "P", "Dphi", "Dsig", "Pphi", "Psig"};
  const auto found = std::find(kOrder.begin(), kOrder.end(), word);
  return {static_cast<int>(found - kOrder.begin()), number};
}

Map ReadMap(const std::vector<RouterWeights>& routers) {
  Map map;
  for (const RouterWeights& router : routers) {
    auto& weights = map.rows.emplace_back();
    const size_t size = router.sources.size();
    for (size_t j = 0; j < size; ++j) {
      const double weight = router.weights[j];
      weights[router.sources[j]] = weight;
      // A router with one source gives it everything: no shade to learn from.
      if (std::isfinite(weight) && (size > 1 || routers.size() == 1)) {
        map.largest = std::max(map.largest, weight);
      }
      map.sources.push_back(router.sources[j]);
    }
  }
  std::sort(map.sources.begin(), map.sources.end(),
            [](const std::string& a, const std::string& b) {
              return std::pair(Rank(a), a) < std::pair(Rank(b), b);
            });
  map.sources.erase(std::unique(map.sources.begin(), map.sources.end()),
                    map.sources.end());
  return map;
}

constexpr std::array<const char*, 4> kBlocks = {"░", "▒", "▓", "█"};
constexpr std::string_view kAscii = ".:-=+*#%@";

// A source that is there is never blank, nor as dark as an empty terminal.
std::string Shade(double weight, double largest, size_t width,
                  const Style& style) {
  const double share = std::isfinite(weight) && largest > 0
                           ? std::clamp(weight / largest, 0.0, 1.0)
                           : 0;
  if (style.many_colours) {
    const int grey = 236 + static_cast<int>(std::lround(share * 19));
    return fmt::format("\x1b[48;5;{}m{}\x1b[0m", grey, std::string(width, ' '));
  }
  std::string cell;
  for (size_t i = 0; i < width; ++i) {
    cell += style.utf8() ? std::string(kBlocks[std::lround(share * 3)])
                         : std::string(1, kAscii[std::lround(share * 8)]);
  }
  return cell;
}

// Where a router has no such source.
std::string Absent(size_t width, const Style& style) {
  return PadRight(style.utf8() ? "·" : " ", width);
}

std::string RouterName(int64_t router, bool is_last) {
  if (is_last) return "readout";
  return fmt::format("{:>3} {}", router, router % 2 == 0 ? "attention" : "MLP");
}

std::optional<double> Element(const Figures& figures, const std::string& name,
                              size_t row) {
  const auto found = figures.find(name);
  if (found == figures.end() || row >= found->second.size()) {
    return std::nullopt;
  }
  return found->second[row];
}

std::string Statistics(const Figures& figures, size_t row) {
  std::string text;
  for (const char* name : {"route.entropy", "route.max_weight",
                           "route.embedding_mass", "route.detail_mass"}) {
    const auto value = Element(figures, name, row);
    text += value.has_value() ? fmt::format("  {:>9.3f}", *value)
                              : fmt::format("  {:>9}", "");
  }
  return text;
}

size_t CellWidth(const Map& map, const Style& style) {
  size_t widest = 2;
  for (const auto& source : map.sources) {
    widest = std::max(widest, DisplayWidth(style.Clean(source)) + 1);
  }
  const size_t room = style.is_terminal ? style.width : 200;
  const size_t fixed = kNameColumn + 2 + 4 * 11;
  return fixed + widest * map.sources.size() <= room ? widest : 1;
}

std::string Header(const Map& map, size_t width, const Style& style) {
  std::string line = PadRight("router", kNameColumn);
  for (const auto& source : map.sources) {
    line += PadRight(width > 1 ? style.Clean(source) : "", width);
  }
  return line + "    entropy        max  embedding     detail\n";
}

std::string Legend(const Map& map, size_t width, const Style& style) {
  // The shades with the weights they stand for: all, or five of the greys.
  const size_t shades = style.many_colours ? 5
                        : style.utf8()     ? kBlocks.size()
                                           : kAscii.size();
  std::string text;
  for (size_t k = 0; k < shades; ++k) {
    const double share = static_cast<double>(k) / (shades - 1);
    text += fmt::format("{} {:.2f}  ", Shade(share, 1, 1, style),
                        share * map.largest);
  }
  text += fmt::format("and more; {}: no such source\n",
                      style.utf8() ? "·" : "blank");
  if (width > 1) return text;
  text += "sources, left to right:";
  for (const auto& source : map.sources) text += " " + style.Clean(source);
  return text + "\n";
}

}  // namespace

std::string RenderHeatMap(const v1::RoutingReply& routing, const Style& style) {
  const std::vector<RouterWeights> routers = ReadRoutingMap(routing);
  const Figures figures = ReadFigures(routing);
  const Map map = ReadMap(routers);
  std::string text = fmt::format(
      "routing of {} at step {}: mean weights of sources, a row a "
      "router\n",
      style.Clean(routing.trial()), routing.step());
  if (map.rows.empty()) return text + "it has no routers\n";
  const size_t width = CellWidth(map, style);
  text += Header(map, width, style);
  for (size_t r = 0; r < routers.size(); ++r) {
    if (routers[r].sources.empty()) continue;
    const bool is_last = r + 1 == routers.size() && r % 2 == 0;
    text += PadRight(RouterName(static_cast<int64_t>(r), is_last), kNameColumn);
    for (const auto& source : map.sources) {
      const auto weight = map.rows[r].find(source);
      text += weight == map.rows[r].end()
                  ? Absent(width, style)
                  : Shade(weight->second, map.largest, width, style);
    }
    text += Statistics(figures, r);
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text + Legend(map, width, style);
}

Json RoutingJson(const v1::RoutingReply& routing) {
  Json rows = Json::array();
  int64_t number = 0;
  for (const RouterWeights& router : ReadRoutingMap(routing)) {
    Json weights = Json::array();
    for (const double weight : router.weights) {
      weights.push_back(JsonNumber(weight));
    }
    rows.push_back({{"router", number++},
                    {"sources", router.sources},
                    {"weights", weights}});
  }
  Json statistics = Json::object();
  for (const auto& [name, list] : ReadFigures(routing)) {
    Json values = Json::array();
    for (const double value : list) values.push_back(JsonNumber(value));
    statistics[name] = values;
  }
  return {{"trial", routing.trial()},
          {"step", routing.step()},
          {"map", rows},
          {"statistics", statistics}};
}

}  // namespace leadline::cli
