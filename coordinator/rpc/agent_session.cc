#include "coordinator/rpc/agent_session.h"

#include <utility>

#include "coordinator/rpc/convert.h"
#include "coordinator/rpc/status.h"
#include "errors/error_code.h"
#include "proto/protocol_version.h"

namespace leadline::rpc {
namespace {

absl::Status CheckProtocol(const v1::Register& message) {
  const std::string why = WhyNotUnderstood(
      "leadline-coordinator", kProtocol, "leadline-agent " + message.node(),
      {message.least_protocol_version(), message.protocol_version()});
  if (why.empty()) return absl::OkStatus();
  return WithError(absl::FailedPreconditionError(why),
                   ErrorCode::kVersionMismatch);
}

}  // namespace

void AgentSession::OnReadDone(bool ok) {
  if (!ok) return Close(grpc::Status::OK);
  if (IsSettled()) return Read();
  auto command = Convert();
  if (!command.ok()) {
    owner_.NoteDismissed(*this, command.status());
    return Close(ToGrpc(command.status()));
  }
  auto self = owner_.Find(id_);
  if (!self) return;
  owner_.sink_->Post(*std::move(command), [self](const auto& answer) {
    if (!answer.ok()) {
      self->owner_.NoteDismissed(*self, answer.status());
      return self->Close(ToGrpc(answer.status()));
    }
    self->Read();
  });
}

void AgentSession::Ended() {
  owner_.sink_->Post(control::NodeLost{id_}, [](const auto&) {});
  owner_.OnEnded(id_);
}

bool AgentSession::IsSettled() {
  switch (message_.message_case()) {
    case v1::AgentMessage::kLog:
      owner_.OnLogReply(id_, message_.log());
      return true;
    case v1::AgentMessage::kWeighed:
      owner_.OnWeighed(id_, message_.weighed());
      return true;
    case v1::AgentMessage::kKept:
      if (!registered_) return false;
      owner_.OnKept(owner_.Find(id_), message_.kept());
      return true;
    default:
      return false;
  }
}

absl::StatusOr<control::Command> AgentSession::Convert() {
  const bool is_register =
      message_.message_case() == v1::AgentMessage::kRegister;
  if (is_register == registered_) {
    return absl::InvalidArgumentError(
        "Register is the first message of a stream and no other");
  }
  switch (message_.message_case()) {
    case v1::AgentMessage::kRegister: {
      registered_ = true;
      node_ = message_.register_().node();
      protocol_ = message_.register_().protocol_version();
      absl::Status protocol = CheckProtocol(message_.register_());
      if (!protocol.ok()) return protocol;
      return FromProto(id_, message_.register_());
    }
    case v1::AgentMessage::kHeartbeat:
      return FromProto(id_, message_.heartbeat());
    case v1::AgentMessage::kRecords:
      return FromProto(id_, message_.records());
    case v1::AgentMessage::kEnded:
      return FromProto(id_, message_.ended());
    case v1::AgentMessage::kStarted:
      return FromProto(id_, message_.started());
    case v1::AgentMessage::kWaiting:
      return FromProto(id_, message_.waiting());
    case v1::AgentMessage::kRefused:
      return FromProto(id_, message_.refused());
    case v1::AgentMessage::kKept:
    case v1::AgentMessage::kLog:
    case v1::AgentMessage::kWeighed:
    case v1::AgentMessage::MESSAGE_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("a message without content");
}

}  // namespace leadline::rpc
