#include "coordinator/rpc/node_convert.h"

#include <string>

#include <gtest/gtest.h>

#include "proto/channel_settings.h"

namespace leadline::rpc {
namespace {

control::NodeNow Node(const std::string& name) {
  control::NodeNow node;
  node.name = name;
  node.state = control::NodeCondition::kQuarantined;
  node.reason = std::string(100'000, 'x');
  return node;
}

TEST(NodeConvertTest, ListsAreCutIntoPagesThatFit) {
  control::NodesReport report;
  for (int i = 1000; i < 2500; ++i) {
    report.nodes.push_back(Node("node" + std::to_string(i)));
  }
  v1::ListNodesRequest request;
  int64_t listed = 0;
  int pages = 0;
  while (listed < 1500) {
    const auto page = ToListReply(report, request);
    ASSERT_TRUE(page.ok());
    ASSERT_GT(page->nodes_size(), 0);
    EXPECT_EQ(page->total(), 1500);
    EXPECT_LT(page->ByteSizeLong(), size_t{kMostMessageBytes} / 2);
    EXPECT_GT(page->nodes(0).node(), request.after());
    listed += page->nodes_size();
    request.set_after(page->nodes(page->nodes_size() - 1).node());
    ++pages;
  }
  EXPECT_EQ(listed, 1500);
  EXPECT_GT(pages, 2);
}

TEST(NodeConvertTest, NodeWithAsManyDevicesAsThereMayBeFitsAMessage) {
  control::NodeNow node = Node("n");
  const std::string padding(100, 'p');
  for (int64_t i = 0; i < 4096; ++i) {
    node.devices.push_back(
        {{padding + std::to_string(i), padding + std::to_string(i % 300), i},
         AttemptKey{{{{1}, i}, 0}, 1}});
    node.attempts.push_back(
        {.key = {{{{1}, i}, 0}, 1}, .devices = {padding + std::to_string(i)}});
  }
  const v1::ShowNodeReply reply = ToShowReply(node);
  EXPECT_LT(reply.ByteSizeLong(), size_t{kMostMessageBytes});
  EXPECT_GT(reply.devices_left_out(), 0);
  EXPECT_EQ(reply.devices_size() + reply.devices_left_out(), 4096);
  EXPECT_EQ(reply.attempts_size() + reply.attempts_left_out(), 4096);
}

TEST(NodeConvertTest, CountsDevicesThatAreAlike) {
  control::NodeNow node = Node("n");
  node.devices = {{{"cpu:0", "cpu", 4}, AttemptKey{{{{1}, 1}, 0}, 1}},
                  {{"cpu:1", "cpu", 4}, {}},
                  {{"GPU-1", "NVIDIA H200", 9}, {}}};
  const v1::NodeSummary summary = ToProto(node);
  ASSERT_EQ(summary.devices_size(), 2);
  EXPECT_EQ(summary.devices(1).type(), "cpu");
  EXPECT_EQ(summary.devices(1).total(), 2);
  EXPECT_EQ(summary.devices(1).busy(), 1);
  EXPECT_EQ(summary.state(), "quarantined");
  EXPECT_FALSE(summary.has_silent_seconds());
}

TEST(NodeConvertTest, NegativeLimitIsRefused) {
  v1::ListNodesRequest request;
  request.set_limit(-1);
  EXPECT_FALSE(ToListReply({}, request).ok());
}

}  // namespace
}  // namespace leadline::rpc
