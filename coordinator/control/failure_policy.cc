#include "coordinator/control/failure_policy.h"

#include <algorithm>
#include <array>

namespace leadline::control {
namespace {

using enum FailureKind;
using enum RetryWhere;
using enum Blame;

constexpr Seconds kNow{0};

// A configuration is as wrong the next time. Data may be whole on another
// machine. The same devices have no more memory the next time, so that says
// nothing against a machine either. A full disk and a lost agent are no verdict
// on what was trained.
constexpr std::array<FailurePolicy, kFailureKinds.size()> kTable = {{
    // kind, retry, uses a try, backoff: first, longest, blame of the node
    {kConfig, kNowhere, true, kNow, kNow, kNone},
    {kData, kOnOtherNode, true, kNow, kNow, kNone},
    {kOom, kWithMoreMemory, true, Seconds{2}, Seconds{60}, kNone},
    {kNcclInit, kAnywhere, true, Seconds{5}, Seconds{120}, kWhenRepeated},
    {kNccl, kAnywhere, true, Seconds{5}, Seconds{120}, kWhenRepeated},
    {kDevice, kAnywhere, true, Seconds{5}, Seconds{120}, kAtOnce},
    {kDisk, kAnywhere, false, Seconds{10}, Seconds{120}, kNone},
    {kCrash, kAnywhere, true, Seconds{2}, Seconds{60}, kWhenRepeated},
    {kHang, kAnywhere, true, Seconds{2}, Seconds{60}, kWhenRepeated},
    {kAgentLost, kAnywhere, false, kNow, kNow, kNone},
}};

constexpr bool HasOneRowAKind() {
  for (size_t i = 0; i < kTable.size(); ++i) {
    if (kTable[i].kind != kFailureKinds[i]) return false;
  }
  return true;
}
static_assert(HasOneRowAKind(), "one row a kind, in the order of the list");

}  // namespace

const FailurePolicy& PolicyOf(FailureKind kind) {
  return *std::ranges::find(kTable, kind, &FailurePolicy::kind);
}

}  // namespace leadline::control
