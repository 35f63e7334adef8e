// Where the agents' messages meet values: the only place that knows both.

#pragma once

#include <map>
#include <string>

#include <absl/status/statusor.h>

#include "coordinator/control/command.h"
#include "coordinator/control/outcome.h"
#include "leadline/v1/experiment.pb.h"
#include "leadline/v1/worker_service.pb.h"
#include "model/spec/settings.h"
#include "storage/records.h"

namespace leadline::rpc {

// Of what comes in, InvalidArgument says what is malformed: an id that is none
// of ours, a number out of range, a word outside its list.

absl::StatusOr<AttemptKey> FromProto(const v1::Attempt& attempt);
absl::StatusOr<control::Command> FromProto(control::SessionId session,
                                           const v1::Register& message);
absl::StatusOr<control::Command> FromProto(control::SessionId session,
                                           const v1::Heartbeat& message);
absl::StatusOr<control::Command> FromProto(control::SessionId session,
                                           const v1::RecordBatch& message);
absl::StatusOr<control::Command> FromProto(control::SessionId session,
                                           const v1::AttemptStarted& message);
absl::StatusOr<control::Command> FromProto(control::SessionId session,
                                           const v1::AttemptWaiting& message);
absl::StatusOr<control::Command> FromProto(control::SessionId session,
                                           const v1::AttemptRefused& message);
absl::StatusOr<control::Command> FromProto(control::SessionId session,
                                           const v1::AttemptEnded& message);

v1::Attempt ToProto(const AttemptKey& key);
v1::SettingValue ToProto(const spec::Value& value);
v1::Dataset ToProto(const storage::DatasetRecord& dataset);
v1::AttemptRank ToProto(const storage::RankRecord& rank, int64_t number);

/// Any order but CloseOrder, which is no message.
v1::CoordinatorMessage ToProto(const control::Order& order);

}  // namespace leadline::rpc
