#include "coordinator/access/call_rules.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/protocol_calls.h"

namespace leadline::access {
namespace {

TEST(CallRulesTest, EveryCallOfTheProtocolHasOneRuleAndEveryRuleACall) {
  std::set<std::string> ruled;
  for (const CallRule& rule : CallRules()) {
    if (rule.call.starts_with('/')) {
      EXPECT_TRUE(ruled.insert(std::string(rule.call)).second) << rule.call;
    }
  }
  const auto calls = test::CallsOfTheProtocol();
  EXPECT_EQ(ruled, std::set<std::string>(calls.begin(), calls.end()))
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
