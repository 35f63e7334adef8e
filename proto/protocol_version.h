// Which versions of the protocol a program speaks, and what to say where two of
// them have none in common.

#pragma once

#include <cstdint>
#include <string>

namespace leadline {

/// From the oldest a program understands to the newest it speaks.
struct ProtocolRange {
  int32_t least = 1;
  int32_t newest = 1;
};

/// Of this build. A change that an older program would misread raises `newest`;
/// one that this build cannot do without raises `least` as well.
inline constexpr ProtocolRange kProtocol{1, 3};

/// From which on an agent holds some of the ranks of an attempt.
inline constexpr int32_t kProtocolOfRanks = 2;

/// From which on an agent may ask which sweeps were removed.
inline constexpr int32_t kProtocolOfRemovals = 2;

/// From which on an agent says how much it keeps of sweeps.
inline constexpr int32_t kProtocolOfWeighing = 3;

/// Empty if they have a version in common; else what to update. `our_program`
/// and `their_program` are names people know: "leadline-agent gpu7".
inline std::string WhyNotUnderstood(const std::string& our_program,
                                    const ProtocolRange& ours,
                                    const std::string& their_program,
                                    const ProtocolRange& theirs) {
  const bool they_are_old = theirs.newest < ours.least;
  if (!they_are_old && theirs.least <= ours.newest) return "";
  const auto text = [](const ProtocolRange& range) {
    return range.least == range.newest ? std::to_string(range.newest)
                                       : std::to_string(range.least) + " to " +
                                             std::to_string(range.newest);
  };
  return their_program + " speaks protocol " + text(theirs) + ", " +
         our_program + " " + text(ours) + "; update " +
         (they_are_old ? their_program : our_program);
}

}  // namespace leadline
