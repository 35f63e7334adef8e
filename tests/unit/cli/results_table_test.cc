#include "cli/results_table.h"

#include <gtest/gtest.h>

#include "cli/results_grid.h"

namespace leadline::cli {
namespace {

struct Spot {
  int depth;
  std::string dataset;
  std::string method;
  double mean;
};

v1::CellResult CellAt(const Spot& spot) {
  v1::CellResult cell;
  cell.set_depth(spot.depth);
  cell.set_dataset(spot.dataset);
  cell.set_method(spot.method);
  cell.set_n(2);
  cell.set_planned(2);
  cell.set_mean(spot.mean);
  cell.set_sd(0.0012);
  cell.set_floor(0.25);
  (*cell.mutable_axes())["depth"] = std::to_string(spot.depth);
  (*cell.mutable_axes())["dataset"] = spot.dataset;
  (*cell.mutable_axes())["method"] = spot.method;
  return cell;
}

ResultsSet Set(const std::vector<Spot>& spots) {
  ResultsSet results;
  results.header.set_sweep("s1");
  results.header.set_name("quickstart");
  results.header.set_metric("validation_loss");
  results.header.set_unit("nats/char");
  results.header.set_split("validation");
  results.header.set_database("/state/leadline.db");
  results.header.set_complete(true);
  for (const Spot& spot : spots) {
    results.cells.push_back(CellAt(spot));
    results.cells.back().set_cell("s1." + std::to_string(results.cells.size()));
  }
  return results;
}

ResultsSet Quickstart() {
  return Set({{4, "g16", "prenorm", 0.5},
              {4, "g16", "wav", 0.4},
              {4, "g64", "prenorm", 0.7},
              {4, "g64", "wav", 0.8},
              {8, "g16", "prenorm", 0.45},
              {8, "g16", "wav", 0.35},
              {8, "g64", "prenorm", 0.65},
              {8, "g64", "wav", 0.6}});
}

Style Utf8() { return {.charset = Charset::kUtf8}; }

TEST(RenderResults, IsARowADatasetAndMethodAndAColumnADepth) {
  EXPECT_EQ(RenderResults(Quickstart(), Utf8()),
            "s1 quickstart: validation loss in nats per character, validation "
            "split, mean ± sd (n) over seeds\n"
            "\n"
            "dataset  method   depth 4                depth 8\n"
            "g16      prenorm  0.5000 ± 0.0012 (2)    0.4500 ± 0.0012 (2)\n"
            "         wav      0.4000 ± 0.0012 (2) *  0.3500 ± 0.0012 (2) *\n"
            "         (floor)  0.2500                 0.2500\n"
            "g64      prenorm  0.7000 ± 0.0012 (2) *  0.6500 ± 0.0012 (2)\n"
            "         wav      0.8000 ± 0.0012 (2)    0.6000 ± 0.0012 (2) *\n"
            "         (floor)  0.2500                 0.2500\n"
            "\n"
            "* lowest mean of its data set and depth\n"
            "database: /state/leadline.db\n");
}

TEST(RenderResults, NamesTheHostOfADatabaseElsewhere) {
  ResultsSet results = Quickstart();
  results.host = "head.example";
  EXPECT_TRUE(RenderResults(results, Utf8())
                  .ends_with("database: /state/leadline.db on head.example\n"));
}

TEST(RenderResults, MarksTheBestBoldWithColours) {
  Style style = Utf8();
  style.colours = true;
  EXPECT_NE(RenderResults(Quickstart(), style)
                .find("\x1b[1m0.4000 ± 0.0012 (2) *\x1b[0m"),
            std::string::npos);
}

TEST(RenderResults, FallsBackToAsciiAndToAListInANarrowWindow) {
  Style style;
  style.is_terminal = true;
  style.width = 60;
  const std::string text = RenderResults(Quickstart(), style);
  EXPECT_NE(text.find("g16      wav      depth 8  0.3500 +/- 0.0012 (2) *"),
            std::string::npos)
      << text;
}

TEST(RenderResults, NamesWhatDivergedOrFailed) {
  ResultsSet results = Quickstart();
  results.cells[2].set_n(0);
  results.cells[2].set_planned(5);
  results.cells[2].clear_mean();
  results.cells[2].clear_sd();
  results.cells[2].set_diverged(3);
  results.cells[2].set_failed(2);
  results.header.set_complete(false);
  const std::string text = RenderResults(results, Utf8());
  EXPECT_NE(text.find("—          (0/5)"), std::string::npos) << text;
  EXPECT_NE(text.find("s1.3 (depth 4, g64, prenorm): of 5 trials 3 diverged "
                      "and 2 failed\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("over seeds, not complete"), std::string::npos);
}

TEST(RenderResults, BearsASweepWithoutCells) {
  EXPECT_NE(RenderResults(Set({}), Utf8()).find("dataset  method\n"),
            std::string::npos);
}

TEST(ArrangeResults, GivesAFurtherAxisRowsOfItsOwn) {
  ResultsSet results = Set({{4, "g", "wav", 0.5}, {4, "g", "wav", 0.4}});
  (*results.cells[0].mutable_axes())["lr"] = "0.001";
  (*results.cells[1].mutable_axes())["lr"] = "0.01";
  const Grid grid = ArrangeResults(results);
  EXPECT_EQ(grid.row_axes, std::vector<std::string>{"lr"});
  ASSERT_EQ(grid.rows.size(), 2U);
  EXPECT_EQ(grid.rows[1].values, std::vector<std::string>{"0.01"});
  EXPECT_EQ(BestOf(grid, "g", 0), &results.cells[1]);
}

TEST(ArrangeResults, PutsAnAxisThatGoesWithDepthIntoTheColumn) {
  ResultsSet results = Set({{4, "g", "wav", 0.5}, {8, "g", "wav", 0.4}});
  (*results.cells[0].mutable_axes())["lr"] = "0.001";
  (*results.cells[1].mutable_axes())["lr"] = "0.0008";
  const Grid grid = ArrangeResults(results);
  EXPECT_TRUE(grid.row_axes.empty());
  EXPECT_EQ(grid.columns, (std::vector<std::string>{"depth 4, lr 0.001",
                                                    "depth 8, lr 0.0008"}));
  EXPECT_EQ(BestOf(grid, "g", 0), nullptr) << "nobody to be better than";
}

TEST(ResultsJson, IsTheContract) {
  ResultsSet results = Set({{4, "g16", "wav", 0.1}});
  auto* value = results.cells[0].add_values();
  value->set_trial("s1.1.0");
  value->set_seed(7);
  value->set_value(0.1);
  results.cells[0].clear_floor();
  const Json json = ResultsJson(results);
  const Json& cell = json["cells"][0];
  EXPECT_EQ(json["database"], "/state/leadline.db");
  EXPECT_EQ(json["complete"], true);
  EXPECT_TRUE(cell["floor"].is_null());
  EXPECT_EQ(cell["mean"], 0.1);
  EXPECT_EQ(cell["values"].dump(),
            R"([{"trial":"s1.1.0","seed":7,"value":0.1}])");
}

TEST(JsonNumber, WritesWhatJsonHasNotAsWords) {
  EXPECT_EQ(JsonNumber(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(JsonNumber(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(Document(JsonNumber(0.1)), "0.1\n");
  EXPECT_EQ(Document(Json("a\xff")), "\"a\ufffd\"\n");
}

}  // namespace
}  // namespace leadline::cli
