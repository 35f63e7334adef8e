// The calls of admins, beside a connection: on a line of their own.

#pragma once

#include <memory>

#include <absl/status/statusor.h>

#include "cli/connection.h"
#include "cli/dial.h"
#include "leadline/v1/access_service.grpc.pb.h"

namespace leadline::cli {

struct AccessClient {
  Dialled line;
  std::unique_ptr<v1::AccessService::Stub> calls;
};

/// To the coordinator of `connection`, which stays attached meanwhile.
inline absl::StatusOr<AccessClient> DialAccess(const Connection& connection) {
  auto line = Dial(connection.address());
  if (!line.ok()) return line.status();
  AccessClient client{*std::move(line), nullptr};
  client.calls = v1::AccessService::NewStub(client.line.channel);
  return client;
}

}  // namespace leadline::cli
