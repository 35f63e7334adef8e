// What a call is about, as the audit tells it.

#pragma once

#include <string>

#include <google/protobuf/message.h>

namespace leadline::rpc {

/// The sweep, trial, node or token that a request or its answer names, or
/// several with commas between; at most 200 bytes. Empty if it names none.
std::string TargetOf(const google::protobuf::Message& message);

}  // namespace leadline::rpc
