#include "coordinator/metrics/metric_table.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leadline::metrics {
namespace {

constexpr char kPage[] = LEADLINE_SOURCE_DIR "/docs/metrics.md";

TEST(MetricTableTest, PageOfTheDocumentsIsWrittenFromIt) {
  if (std::getenv("LEADLINE_UPDATE_DOCS") != nullptr) {
    std::ofstream(kPage) << MetricsPage();
  }
  std::ifstream file(kPage);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}),
            MetricsPage());
}

TEST(MetricTableTest, NamesSayTypeAndUnit) {
  std::set<std::string> names;
  for (const MetricDefinition& metric : MetricTable()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    EXPECT_EQ(metric.name.ends_with("_total"),
              metric.type == MetricType::kCounter)
        << metric.name;
    EXPECT_EQ(!metric.buckets.empty(), metric.type == MetricType::kHistogram)
        << metric.name;
    EXPECT_TRUE(metric.help.ends_with(".")) << metric.name;
  }
}

TEST(MetricTableTest, NoLabelNamesATrialAnAttemptOrASeed) {
  for (const MetricDefinition& metric : MetricTable()) {
    for (const LabelDefinition& label : metric.labels) {
      EXPECT_THAT(label.name,
                  testing::AllOf(testing::Ne("trial"), testing::Ne("attempt"),
                                 testing::Ne("seed")))
          << metric.name;
      EXPECT_NE(label.values.empty(), label.bound.empty())
          << metric.name << " " << label.name << ": a closed set or a bound";
    }
  }
}

TEST(MetricTableTest, WhatIsNotInItIsAMistake) {
  EXPECT_THROW(FindMetric("leadline_none"), std::logic_error);
  EXPECT_THROW(FindMetric("leadline_trials").Label("none"), std::logic_error);
}

}  // namespace
}  // namespace leadline::metrics
