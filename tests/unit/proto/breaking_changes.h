// What of a protocol an older program would trip over.

#pragma once

#include <string>
#include <vector>

#include <google/protobuf/descriptor.pb.h>

namespace leadline {

/// What was there in `before` and is not, or is something else, in `after`:
/// messages, fields by number, calls. Whatever is new breaks nothing.
std::vector<std::string> BreakingChanges(
    const google::protobuf::FileDescriptorSet& before,
    const google::protobuf::FileDescriptorSet& after);

}  // namespace leadline
