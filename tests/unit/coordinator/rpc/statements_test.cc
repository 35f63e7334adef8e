// What a request costs the store does not depend on how many trials there are.

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "coordinator/rpc/explanation.h"
#include "coordinator/rpc/list_pages.h"
#include "coordinator/rpc/results_pages.h"
#include "coordinator/rpc/trial_details.h"
#include "storage/open.h"
#include "tests/support/statement_trace.h"
#include "tests/support/store_world.h"

namespace leadline::rpc {
namespace {

/// Statements of each request, over a sweep of that many trials.
std::map<std::string, size_t> CountAll(int64_t trials) {
  constexpr int64_t kSeeds = 5;
  const test::TemporaryFolder folder;
  const test::StatementTrace trace;
  const auto pair =
      storage::OpenSqliteStore(folder.path() / "leadline.db").value();
  EXPECT_TRUE(
      test::CommitOne(*pair.store, test::MakeSweep(1, trials / kSeeds, kSeeds))
          .ok());
  const storage::StoreReader& reader = *pair.reader;
  EXPECT_TRUE(reader.CountSweeps().ok());  // opens the connection
  std::map<std::string, size_t> counts;
  const auto count = [&counts](const std::string& name, const auto& ask) {
    test::StatementTrace::Take();
    ask();
    counts[name] = test::StatementTrace::Take().size();
  };
  count("ls", [&] { EXPECT_TRUE(ListSweeps(reader, {}).ok()); });
  count("trials", [&] {
    v1::ListTrialsRequest request;
    request.set_target("s1");
    EXPECT_TRUE(ListTrials(reader, request).ok());
    request.set_failed_kind("crash");
    EXPECT_TRUE(ListTrials(reader, request).ok());
  });
  count("show",
        [&] { EXPECT_TRUE(ShowTrial(reader, test::Trial(1, 2, 0)).ok()); });
  count("curve", [&] {
    v1::CurveRequest request;
    request.set_trial("s1.2.0");
    request.set_metric("train_loss");
    EXPECT_TRUE(ReadCurve(reader, request).ok());
  });
  count("results", [&] {
    v1::ResultsRequest request;
    request.set_sweep("s1");
    ResultsPages pages(reader, "", request);
    int64_t parts = 0;
    for (;;) {
      const auto page = pages.Next();
      ASSERT_TRUE(page.ok()) << page.status();
      if (page->empty()) break;
      parts += std::ssize(*page);
    }
    EXPECT_EQ(parts, 1 + trials / kSeeds);
  });
  count("explain a sweep", [&] {
    EXPECT_TRUE(ExplainWith(reader, SweepId{1}, std::nullopt).ok());
  });
  count("explain a trial", [&] {
    EXPECT_TRUE(ExplainWith(reader, test::Trial(1, 2, 0), std::nullopt).ok());
  });
  return counts;
}

TEST(Statements, OfARequestAreAsManyWhateverTheNumberOfTrials) {
  const auto few = CountAll(10);
  EXPECT_EQ(CountAll(100), few);
  EXPECT_EQ(CountAll(10'000), few);
  for (const auto& [request, statements] : few) {
    EXPECT_LE(statements, 40U) << request;
  }
}

}  // namespace
}  // namespace leadline::rpc
