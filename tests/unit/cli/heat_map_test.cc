#include "cli/heat_map.h"

#include <cmath>

#include <gtest/gtest.h>

namespace leadline::cli {
namespace {

v1::RoutingReply Example() {
  v1::RoutingReply routing;
  routing.set_trial("s1.1.0");
  routing.set_step(300);
  const std::vector<std::vector<std::pair<std::string, double>>> rows = {
      {{"e", 1.0}},
      {{"e", 0.75}, {"P", 0.25}},
      {{"e", 0.25}, {"C0", 0.5}, {"Dphi0", 0.25}}};
  for (size_t r = 0; r < rows.size(); ++r) {
    auto* row = routing.add_map();
    row->set_router(static_cast<int64_t>(r));
    for (const auto& [source, weight] : rows[r]) {
      row->add_sources(source);
      row->add_weights(weight);
    }
  }
  auto* entropy = routing.add_statistics();
  entropy->set_name("route.entropy");
  for (const double value : {0.0, 0.562, 1.04}) entropy->add_values(value);
  return routing;
}

TEST(RenderHeatMap, DrawsARowARouterAndAColumnASource) {
  const std::string text =
      RenderHeatMap(Example(), {.charset = Charset::kUtf8});
  EXPECT_EQ(text,
            "routing of s1.1.0 at step 300: mean weights of sources, a row a "
            "router\n"
            "router          e     C0    P     Dphi0     entropy        max  "
            "embedding     detail\n"
            "  0 attention   ██████·     ·     ·           0.000\n"
            "  1 MLP         ██████·     ▒▒▒▒▒▒·           0.562\n"
            "readout         ▒▒▒▒▒▒▓▓▓▓▓▓·     ▒▒▒▒▒▒      1.040\n"
            "░ 0.00  ▒ 0.25  ▓ 0.50  █ 0.75  and more; ·: no such source\n");
}

TEST(RenderHeatMap, IsAsciiWhereThereIsNothingElse) {
  for (const char c : RenderHeatMap(Example(), Style{})) {
    EXPECT_LT(static_cast<unsigned char>(c), 0x80);
  }
}

TEST(RenderHeatMap, TellsASmallWeightFromASourceThatIsNotThere) {
  v1::RoutingReply routing = Example();
  routing.mutable_map(1)->set_weights(1, 0.001);
  EXPECT_NE(RenderHeatMap(routing, {.charset = Charset::kUtf8})
                .find("  1 MLP         ██████·     ░░░░░░·     "),
            std::string::npos);
  EXPECT_NE(RenderHeatMap(routing, Style{})
                .find("  1 MLP         @@@@@@      ......      "),
            std::string::npos);
  Style greys = {.charset = Charset::kUtf8};
  greys.is_terminal = greys.colours = greys.many_colours = true;
  greys.width = 100;
  EXPECT_NE(RenderHeatMap(routing, greys)
                .find("·     \x1b[48;5;236m      \x1b[0m·     "),
            std::string::npos);
}

TEST(RenderHeatMap, SaysWhatEachShadeStandsFor) {
  EXPECT_NE(RenderHeatMap(Example(), Style{})
                .find(". 0.00  : 0.09  - 0.19  = 0.28  + 0.38  * 0.47  "
                      "# 0.56  % 0.66  @ 0.75  and more; blank: no such "
                      "source\n"),
            std::string::npos);
}

TEST(RenderHeatMap, UsesGreysWhereTheTerminalHasThem) {
  Style style;
  style.is_terminal = style.colours = style.many_colours = true;
  style.width = 100;
  EXPECT_NE(RenderHeatMap(Example(), style).find("\x1b[48;5;255m      \x1b[0m"),
            std::string::npos);
}

TEST(RenderHeatMap, BearsHostileReplies) {
  v1::RoutingReply routing = Example();
  routing.mutable_map(0)->add_sources("more sources than weights");
  routing.mutable_map(1)->set_weights(0, std::nan(""));
  routing.mutable_map(2)->set_sources(0, "\x1b[2J");
  const std::string text = RenderHeatMap(routing, Style{});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(RenderHeatMap(v1::RoutingReply(), Style{}).find("no routers"),
            std::string::npos);
}

}  // namespace
}  // namespace leadline::cli
