// What travels between two ranks once they know each other.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "worker/collective/ring/element.h"

namespace leadline::collective {

/// On the wire: never renumber.
enum class Task : uint8_t { kSum = 1, kCopy, kMeet };

/// What all ranks do together. Two ranks whose operations of one number differ
/// in anything have lost each other.
struct Operation {
  uint64_t number = 0;
  Task task = Task::kMeet;
  Element element = Element::kByte;
  uint32_t root = 0;   // whose values are copied
  uint64_t count = 0;  // elements, of all ranks the same
  int64_t step = 0;    // of training
  bool operator==(const Operation&) const = default;
};

/// "operation 12 of step 3, a sum of 40 float32".
std::string ToText(const Operation& operation);

/// On the wire: never renumber.
enum class FrameKind : uint8_t {
  kData = 1,  // part of an operation's values follows
  kBeat,      // this rank lives; `number` operations were begun
  kLeave,  // this rank has done `number` operations and takes part in no more
  kAbort,  // this rank cannot go on; a text that says why follows
};

struct Frame {
  FrameKind kind = FrameKind::kBeat;
  Operation operation{};
  uint32_t turn = 0;   // of the operation; of a beat: 1 while this rank waits
  uint64_t bytes = 0;  // that follow
};

inline constexpr size_t kFrameBytes = 48;
inline constexpr size_t kLongestReason = 2048;

using FrameHead = std::array<std::byte, kFrameBytes>;

FrameHead Encode(const Frame& frame);

/// Null for what no rank sends.
std::optional<Frame> Decode(const FrameHead& head);

}  // namespace leadline::collective
