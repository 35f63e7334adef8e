#include "worker/collective/ring/frame.h"

#include "worker/collective/ring/byte_order.h"

namespace leadline::collective {
namespace {

constexpr uint32_t kMagic = 0x474e524c;  // LRNG

std::string Number(uint64_t number) { return std::to_string(number); }

}  // namespace

std::string ToText(const Operation& operation) {
  const std::string values =
      Number(operation.count) + " " + NameOf(operation.element);
  std::string text = "operation " + Number(operation.number) + " of step " +
                     std::to_string(operation.step) + ", ";
  switch (operation.task) {
    case Task::kSum:
      return text + "a sum of " + values;
    case Task::kCopy:
      return text + "a copy of " + values + " of rank " +
             Number(operation.root);
    case Task::kMeet:
      return text + "a barrier";
  }
  return text;
}

FrameHead Encode(const Frame& frame) {
  FrameHead head{};
  PutNumber(head.data(), kMagic, 4);
  PutNumber(&head[4], static_cast<uint8_t>(frame.kind), 1);
  PutNumber(&head[5], static_cast<uint8_t>(frame.operation.task), 1);
  PutNumber(&head[6], static_cast<uint8_t>(frame.operation.element), 1);
  PutNumber(&head[8], frame.operation.root, 4);
  PutNumber(&head[12], frame.turn, 4);
  PutNumber(&head[16], frame.operation.number, 8);
  PutNumber(&head[24], frame.operation.count, 8);
  PutNumber(&head[32], static_cast<uint64_t>(frame.operation.step), 8);
  PutNumber(&head[40], frame.bytes, 8);
  return head;
}

std::optional<Frame> Decode(const FrameHead& head) {
  const uint64_t kind = GetNumber(&head[4], 1);
  const uint64_t task = GetNumber(&head[5], 1);
  const uint64_t element = GetNumber(&head[6], 1);
  if (GetNumber(head.data(), 4) != kMagic || kind < 1 || kind > 4 || task < 1 ||
      task > 3 || element >= kElements) {
    return std::nullopt;
  }
  Frame frame;
  frame.kind = static_cast<FrameKind>(kind);
  frame.operation = {
      .number = GetNumber(&head[16], 8),
      .task = static_cast<Task>(task),
      .element = static_cast<Element>(element),
      .root = static_cast<uint32_t>(GetNumber(&head[8], 4)),
      .count = GetNumber(&head[24], 8),
      .step = static_cast<int64_t>(GetNumber(&head[32], 8)),
  };
  frame.turn = static_cast<uint32_t>(GetNumber(&head[12], 4));
  frame.bytes = GetNumber(&head[40], 8);
  if (frame.kind == FrameKind::kAbort && frame.bytes > kLongestReason) {
    return std::nullopt;
  }
  return frame;
}

}  // namespace leadline::collective
