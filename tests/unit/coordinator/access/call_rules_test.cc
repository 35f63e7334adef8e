#include "coordinator/access/call_rules.h"

#include <set>
#include <string>

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include "leadline/v1/access_service.pb.h"
#include "leadline/v1/node_service.pb.h"
#include "leadline/v1/results_service.pb.h"
#include "leadline/v1/sweep_service.pb.h"
#include "leadline/v1/worker_service.pb.h"

namespace leadline::access {
namespace {

/// "/leadline.v1.SweepService/Submit" of every call in the protocol's files.
std::set<std::string> CallsOfTheProtocol() {
  std::set<std::string> calls;
  for (const google::protobuf::FileDescriptor* file :
       {v1::CreateTokenRequest::descriptor()->file(),
        v1::ListNodesRequest::descriptor()->file(),
        v1::ResultsRequest::descriptor()->file(),
        v1::SubmitRequest::descriptor()->file(),
        v1::AgentMessage::descriptor()->file()}) {
    for (int s = 0; s < file->service_count(); ++s) {
      const auto* service = file->service(s);
      for (int m = 0; m < service->method_count(); ++m) {
        calls.insert("/" + service->full_name() + "/" +
                     service->method(m)->name());
      }
    }
  }
  return calls;
}

TEST(CallRulesTest, EveryCallOfTheProtocolHasOneRuleAndEveryRuleACall) {
  std::set<std::string> ruled;
  for (const CallRule& rule : CallRules()) {
    if (rule.call.starts_with('/')) {
      EXPECT_TRUE(ruled.insert(std::string(rule.call)).second) << rule.call;
    }
  }
  EXPECT_EQ(ruled, CallsOfTheProtocol())
      << "a call needs its row in coordinator/access/call_rules.cc";
}

TEST(CallRulesTest, NothingThatChangesAnythingIsForReadersOrForAnybody) {
  for (const CallRule& rule : CallRules()) {
    if (rule.changes) {
      ASSERT_TRUE(rule.role) << rule.call;
      EXPECT_FALSE(Allows(AccessRole::kRead, *rule.role)) << rule.call;
    }
    if (!rule.role) {
      EXPECT_TRUE(rule.call == "GET /" || rule.call == "GET /healthz" ||
                  rule.call == "GET /readyz")
          << rule.call;
    }
  }
}

TEST(CallRulesTest, AgentsHaveTheirSessionAndNothingElse) {
  for (const CallRule& rule : CallRules()) {
    if (!rule.role) continue;
    EXPECT_EQ(Allows(AccessRole::kAgent, *rule.role),
              rule.call == "/leadline.v1.WorkerService/Session")
        << rule.call;
  }
  for (const AccessRole role :
       {AccessRole::kRead, AccessRole::kSubmit, AccessRole::kAdmin}) {
    EXPECT_FALSE(Allows(role, AccessRole::kAgent));
  }
}

TEST(CallRulesTest, NamesThatOnlyLookLikeACallHaveNoRule) {
  for (const char* call :
       {"", "/", "/leadline.v1.SweepService/", "/leadline.v1.SweepService",
        "/leadline.v1.SweepService/submit", "/leadline.v1.SweepService/Submit/",
        "leadline.v1.SweepService/Submit", "GET /Metrics", "POST /healthz"}) {
    EXPECT_EQ(FindRule(call), nullptr) << call;
  }
  EXPECT_EQ(ShortName("/leadline.v1.SweepService/Submit"), "Submit");
  EXPECT_EQ(ShortName("GET /metrics"), "GET /metrics");
}

}  // namespace
}  // namespace leadline::access
