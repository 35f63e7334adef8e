// leadline nodes

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands_fixture.h"

namespace leadline::cli_test {
namespace {

using grpc::Status;
using nlohmann::json;
using ::testing::HasSubstr;

v1::NodeSummary Busy() {
  v1::NodeSummary node;
  node.set_node("gpu7");
  node.set_state("ready");
  node.set_host("h\x1b[2J");
  node.set_version("0.1.0");
  node.set_commit("abcdef");
  node.set_protocol_version(1);
  node.set_pid(99);
  v1::DeviceCount& kind = *node.add_devices();
  kind.set_type("NVIDIA H200");
  kind.set_total(8);
  kind.set_busy(3);
  node.set_attempts(1);
  node.set_connected_at("2026-11-29T15:04:05Z");
  node.set_connected_seconds(125);
  node.set_silent_seconds(1);
  return node;
}

v1::NodeSummary Closed() {
  v1::NodeSummary node;
  node.set_node("old");
  node.set_state("gone");
  node.set_reason("not heard since the coordinator began; quarantined");
  return node;
}

TEST_F(Commands, NodesAreListedPageByPageWithWhySomeTakeNoWork) {
  answers_.list_nodes = [](const v1::ListNodesRequest& request, auto* reply) {
    *reply->add_nodes() = request.after().empty() ? Busy() : Closed();
    reply->set_total(2);
    return Status::OK;
  };
  const Ended ended = Run({"nodes"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  for (const char* part :
       {"gpu7", "3/8 NVIDIA H200", "2 min 05 s", "1 s ago", "never",
        "old: not heard since the coordinator began; quarantined"}) {
    EXPECT_THAT(ended.out, HasSubstr(part));
  }
  const json list = RunJson({"nodes"})["nodes"];
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0]["devices"][0]["busy"], 3);
  EXPECT_EQ(list[1]["silent_seconds"], nullptr);
}

TEST_F(Commands, OneNodeIsShownWithDevicesAndAttempts) {
  answers_.show_node = [](const v1::ShowNodeRequest& request, auto* reply) {
    EXPECT_EQ(request.node(), "gpu7");
    *reply->mutable_node() = Busy();
    v1::DeviceNow& device = *reply->add_devices();
    device.set_id("GPU-1");
    device.set_type("NVIDIA H200");
    device.set_attempt("s1.3.c0@2");
    reply->set_devices_left_out(7);
    v1::NodeAttempt& attempt = *reply->add_attempts();
    attempt.set_attempt("s1.3.c0@2");
    attempt.set_state("running");
    attempt.set_first_trial("s1.3.0");
    attempt.set_trials(5);
    attempt.set_started_at("2026-11-29T15:05:05Z");
    attempt.set_pid(1234);
    attempt.add_devices("GPU-1");
    attempt.set_world_size(4);
    for (const int rank : {2, 3}) {
      attempt.add_ranks()->set_rank(rank);
      attempt.mutable_ranks(rank - 2)->set_pid(1234 + rank - 2);
    }
    return Status::OK;
  };
  const Ended ended = Run({"nodes", "show", "gpu7"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  for (const char* part :
       {"gpu7: ready", "connected since 2026-11-29T15:04:05Z (2 min 05 s)",
        "host h\\x1b[2J, leadline-agent 0.1.0 (abcdef), protocol 1, pid 99",
        "s1.3.c0@2  running", "2026-11-29T15:05:05Z", "1234", "2-3 of 4",
        "and 7 devices more"}) {
    EXPECT_THAT(ended.out, HasSubstr(part));
  }
  const json node = RunJson({"nodes", "show", "gpu7"});
  EXPECT_EQ(node["attempt_list"][0]["pid"], 1234);
  EXPECT_EQ(node["attempt_list"][0]["ranks"][1]["pid"], 1235);
  EXPECT_EQ(node["device_list"][0]["attempt"], "s1.3.c0@2");
}

TEST_F(Commands, ClearingANodeSaysWhatWasEnded) {
  answers_.clear_node = [](const v1::ClearNodeRequest& request, auto* reply) {
    EXPECT_FALSE(request.request_id().empty());
    reply->set_node(request.node());
    reply->set_was_quarantined(true);
    return Status::OK;
  };
  EXPECT_THAT(Run({"nodes", "clear", "gpu7"}).out,
              HasSubstr("gpu7: its quarantine has ended"));
}

TEST_F(Commands, NodesSaysWhatIsWrongWithItsWords) {
  EXPECT_EQ(Run({"nodes", "show"}).exit_code, 2);
  EXPECT_EQ(Run({"nodes", "burn", "x"}).exit_code, 2);
  answers_.show_node = [](const auto&, auto*) {
    return Status(grpc::StatusCode::NOT_FOUND, "no node x is known");
  };
  EXPECT_EQ(Run({"nodes", "show", "x"}).exit_code, 6);
}

}  // namespace
}  // namespace leadline::cli_test
