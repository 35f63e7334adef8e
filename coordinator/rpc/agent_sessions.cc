#include "coordinator/rpc/agent_sessions.h"

#include <optional>
#include <utility>
#include <vector>

#include "common/sha256.h"
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

constexpr int kMostKept = 1000;

v1::CoordinatorMessage RemovedMessage(const std::vector<SweepId>& sweeps) {
  v1::CoordinatorMessage message;
  for (const SweepId sweep : sweeps) {
    message.mutable_removed()->add_sweeps(ToText(sweep));
  }
  return message;
}

}  // namespace

/// One message is read at a time and the next when its changes are on disk, so
/// an agent cannot send faster than the store takes.
class AgentSession final
    : public BidiStream<v1::AgentMessage, v1::CoordinatorMessage> {
 public:
  AgentSession(control::SessionId id, AgentSessions& owner)
      : id_(id), owner_(owner) {}

  void Read() { ReadInto(&message_); }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) return Close(grpc::Status::OK);
    if (message_.message_case() == v1::AgentMessage::kLog) {
      owner_.OnLogReply(id_, message_.log());
      return Read();
    }
    if (message_.message_case() == v1::AgentMessage::kKept && registered_) {
      owner_.OnKept(owner_.Find(id_), message_.kept());
      return Read();
    }
    auto command = Convert();
    if (!command.ok()) return Close(ToGrpc(command.status()));
    auto self = owner_.Find(id_);
    if (!self) return;
    owner_.sink_->Post(*std::move(command), [self](const auto& answer) {
      if (!answer.ok()) return self->Close(ToGrpc(answer.status()));
      self->Read();
    });
  }

  void Ended() override {
    owner_.sink_->Post(control::NodeLost{id_}, [](const auto&) {});
    owner_.OnEnded(id_);
  }

  absl::StatusOr<control::Command> Convert() {
    const bool is_register =
        message_.message_case() == v1::AgentMessage::kRegister;
    if (is_register == registered_) {
      return absl::InvalidArgumentError(
          "Register is the first message of a stream and no other");
    }
    switch (message_.message_case()) {
      case v1::AgentMessage::kRegister: {
        registered_ = true;
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
      case v1::AgentMessage::MESSAGE_NOT_SET:
        break;
    }
    return absl::InvalidArgumentError("a message without content");
  }

  const control::SessionId id_;
  AgentSessions& owner_;
  v1::AgentMessage message_;
  bool registered_ = false;
};

grpc::ServerBidiReactor<v1::AgentMessage, v1::CoordinatorMessage>*
AgentSessions::Open() {
  std::shared_ptr<AgentSession> session;
  {
    const std::lock_guard lock(mutex_);
    const control::SessionId id{++last_session_};
    session = MakeStream<AgentSession>(id, *this);
    sessions_[id] = session;
  }
  session->Read();
  return session.get();
}

void AgentSessions::Deliver(const control::AgentOrder& order) {
  const std::shared_ptr<AgentSession> session = Find(order.session);
  if (!session) return;
  if (const auto* close = std::get_if<control::CloseOrder>(&order.order)) {
    return session->Close(ToGrpc(close->status));
  }
  if (const auto* welcome = std::get_if<control::WelcomeOrder>(&order.order)) {
    const std::lock_guard lock(mutex_);
    nodes_[welcome->node] = order.session;
  }
  v1::CoordinatorMessage message = ToProto(order.order);
  if (message.start().world_size() > 1) {
    message.mutable_start()->set_secret(
        SecretOf(std::get<control::StartOrder>(order.order).attempt));
  }
  session->Send(std::move(message));
}

std::string AgentSessions::SecretOf(const AttemptKey& attempt) const {
  return Sha256Of(gang_key_ + Sha256Of(gang_key_ + ToText(attempt)));
}

void AgentSessions::CloseAll(const absl::Status& status) {
  std::vector<std::shared_ptr<AgentSession>> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, session] : sessions_) all.push_back(session);
  }
  for (const auto& session : all) session->Close(ToGrpc(status));
}

void AgentSessions::ReadLog(const std::string& node, const LogQuery& query,
                            Found found) {
  std::shared_ptr<AgentSession> session;
  v1::CoordinatorMessage message;
  {
    const std::lock_guard lock(mutex_);
    const auto id = nodes_.find(node);
    const auto open =
        id == nodes_.end() ? sessions_.end() : sessions_.find(id->second);
    if (open != sessions_.end()) {
      session = open->second;
      message.mutable_read_log()->set_request(++last_request_);
      requests_[last_request_] = {id->second, std::move(found)};
    }
  }
  if (!session) {
    return found(absl::UnavailableError("node " + node +
                                        ", which keeps the log, is not "
                                        "connected"));
  }
  v1::ReadLogOrder& order = *message.mutable_read_log();
  *order.mutable_attempt() = ToProto(query.attempt);
  order.set_stream(query.stream);
  order.set_offset(query.offset);
  order.set_limit(query.limit);
  order.set_rank(query.rank);
  session->Send(std::move(message));
}

void AgentSessions::TellRemoved(const std::vector<SweepId>& sweeps) {
  std::vector<std::shared_ptr<AgentSession>> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, session] : sessions_) all.push_back(session);
  }
  for (const auto& session : all) session->Send(RemovedMessage(sweeps));
}

void AgentSessions::OnKept(const std::shared_ptr<AgentSession>& session,
                           const v1::KeptSweeps& kept) {
  if (!session || kept.sweeps_size() > kMostKept) return;
  std::vector<SweepId> asked;
  for (const std::string& text : kept.sweeps()) {
    if (const auto sweep = ParseSweepId(text)) asked.push_back(*sweep);
  }
  background_->Post([this, session, asked](const std::stop_token& stop) {
    if (stop.stop_requested()) return;
    const auto removed = reader_->RemovedAmong(asked);
    // What cannot be looked up now is asked again.
    if (!removed.ok() || removed->empty()) return;
    session->Send(RemovedMessage(*removed));
  });
}

std::shared_ptr<AgentSession> AgentSessions::Find(control::SessionId session) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(session);
  return found == sessions_.end() ? nullptr : found->second;
}

void AgentSessions::OnLogReply(control::SessionId session,
                               const v1::LogReply& reply) {
  Found found;
  {
    const std::lock_guard lock(mutex_);
    const auto request = requests_.find(reply.request());
    if (request == requests_.end() || request->second.session != session) {
      return;
    }
    found = std::move(request->second.found);
    requests_.erase(request);
  }
  if (!reply.error().empty()) return found(absl::NotFoundError(reply.error()));
  found(LogPiece{reply.data(), reply.at_end(), reply.size()});
}

void AgentSessions::OnEnded(control::SessionId session) {
  std::shared_ptr<AgentSession> last;
  std::vector<Found> unanswered;
  {
    const std::lock_guard lock(mutex_);
    const auto found = sessions_.find(session);
    if (found == sessions_.end()) return;
    last = std::move(found->second);
    sessions_.erase(found);
    std::erase_if(nodes_,
                  [&](const auto& node) { return node.second == session; });
    for (auto at = requests_.begin(); at != requests_.end();) {
      if (at->second.session != session) {
        ++at;
        continue;
      }
      unanswered.push_back(std::move(at->second.found));
      at = requests_.erase(at);
    }
  }
  for (const Found& found : unanswered) {
    found(absl::UnavailableError("the node went away before it answered"));
  }
}

}  // namespace leadline::rpc
