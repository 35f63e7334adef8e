#include "coordinator/access/call_rules.h"

#include <algorithm>
#include <array>

namespace leadline::access {
namespace {

constexpr AccessRole kRead = AccessRole::kRead;
constexpr AccessRole kSubmit = AccessRole::kSubmit;
constexpr AccessRole kAdmin = AccessRole::kAdmin;
constexpr AccessRole kAgent = AccessRole::kAgent;

#define LEADLINE_ACCESS "/leadline.v1.AccessService/"
#define LEADLINE_NODES "/leadline.v1.NodeService/"
#define LEADLINE_RESULTS "/leadline.v1.ResultsService/"
#define LEADLINE_SWEEPS "/leadline.v1.SweepService/"
#define LEADLINE_WORKERS "/leadline.v1.WorkerService/"

constexpr CallRule kRules[] = {
    {LEADLINE_ACCESS "CreateToken", kAdmin, true},
    {LEADLINE_ACCESS "ListTokens", kAdmin},
    {LEADLINE_ACCESS "RevokeToken", kAdmin, true},
    {LEADLINE_ACCESS "ListAudit", kAdmin},

    {LEADLINE_NODES "ClearNode", kAdmin, true},
    {LEADLINE_NODES "ListNodes", kRead},
    {LEADLINE_NODES "ShowNode", kRead},

    {LEADLINE_RESULTS "Curve", kRead},
    {LEADLINE_RESULTS "ListSweeps", kRead},
    {LEADLINE_RESULTS "ListTrials", kRead},
    {LEADLINE_RESULTS "ReadLog", kRead},
    {LEADLINE_RESULTS "Results", kRead},
    {LEADLINE_RESULTS "Routing", kRead},
    {LEADLINE_RESULTS "ShowTrial", kRead},
    {LEADLINE_RESULTS "TrainerConfig", kRead},

    {LEADLINE_SWEEPS "Attach", kRead},
    // All of the record, whoever submitted it.
    {LEADLINE_SWEEPS "Backup", kAdmin, true},
    {LEADLINE_SWEEPS "Cancel", kSubmit, true},
    {LEADLINE_SWEEPS "Edit", kSubmit, true},
    {LEADLINE_SWEEPS "Explain", kRead},
    {LEADLINE_SWEEPS "Pause", kSubmit, true},
    // It opens and hashes files of the coordinator's machine.
    {LEADLINE_SWEEPS "Plan", kSubmit},
    {LEADLINE_SWEEPS "Remove", kAdmin, true},
    {LEADLINE_SWEEPS "Resume", kSubmit, true},
    {LEADLINE_SWEEPS "Retry", kSubmit, true},
    {LEADLINE_SWEEPS "Submit", kSubmit, true},
    {LEADLINE_SWEEPS "Watch", kRead},

    {LEADLINE_WORKERS "Session", kAgent, true},

    {"GET /", std::nullopt},
    {"GET /healthz", std::nullopt},
    {"GET /metrics", kRead},
    {"GET /readyz", std::nullopt},
};

}  // namespace

std::span<const CallRule> CallRules() { return kRules; }

const CallRule* FindRule(std::string_view call) {
  const auto* found =
      std::find_if(std::begin(kRules), std::end(kRules),
                   [&](const CallRule& rule) { return rule.call == call; });
  return found == std::end(kRules) ? nullptr : found;
}

std::string_view ShortName(std::string_view call) {
  if (!call.starts_with('/')) return call;
  return call.substr(call.rfind('/') + 1);
}

}  // namespace leadline::access
