// THE table of calls: which role each needs, and which are kept in the audit.

#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "common/access_role.h"

namespace leadline::access {

struct CallRule {
  /// "/leadline.v1.SweepService/Submit", "GET /metrics".
  std::string_view call;
  std::optional<AccessRole> role;  // the least that may; null: anybody
  bool changes = false;            // kept in the audit when it was let in

  bool operator==(const CallRule&) const = default;
};

/// All calls there are. What is not among them is refused.
std::span<const CallRule> CallRules();

/// Null for a call that is not in the table.
const CallRule* FindRule(std::string_view call);

/// What people call it: "Submit", "GET /metrics".
std::string_view ShortName(std::string_view call);

}  // namespace leadline::access
