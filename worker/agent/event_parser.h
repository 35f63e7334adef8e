// Turns a line of a trainer's event file into the record that is sent.

#pragma once

#include "leadline/v1/worker_service.pb.h"
#include "worker/agent/event_tail.h"

namespace leadline::agent {

/// Never fails: a line that is no event of docs/trainer, or whose record would
/// not fit a message, becomes an UnreadableRecord that says why and keeps its
/// place in the sequence.
v1::TrainerRecord ParseEvent(const EventLine& line);

/// Largest record that is sent, so that no message reaches a mebibyte.
inline constexpr size_t kLargestRecordBytes = 900 << 10;

}  // namespace leadline::agent
