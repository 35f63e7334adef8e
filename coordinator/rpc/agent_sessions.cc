#include "coordinator/rpc/agent_sessions.h"

#include <chrono>
#include <utility>
#include <vector>

#include "common/sha256.h"
#include "coordinator/rpc/agent_session.h"
#include "coordinator/rpc/convert.h"
#include "coordinator/rpc/status.h"

namespace leadline::rpc {
namespace {

constexpr size_t kMostDismissed = 1000;  // nodes whose pace is kept

}  // namespace

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
    NoteDismissed(*session, close->status);
    return session->Close(ToGrpc(close->status));
  }
  if (const auto* welcome = std::get_if<control::WelcomeOrder>(&order.order)) {
    NoteWelcome(order.session, *session, welcome->node);
  }
  v1::CoordinatorMessage message = ToProto(order.order);
  if (message.start().world_size() > 1) {
    message.mutable_start()->set_secret(
        SecretOf(std::get<control::StartOrder>(order.order).attempt));
  }
  session->Send(std::move(message));
}

void AgentSessions::NoteWelcome(control::SessionId id,
                                const AgentSession& session,
                                const std::string& node) {
  // Held for the line too, so that none says before it that the agent has gone.
  const std::lock_guard lock(mutex_);
  if (!sessions_.contains(id)) return;  // it has, meanwhile
  nodes_[node] = id;
  dismissals_.erase(node);
  log_->Write(
      LogLevel::kInfo, "agent_registered",
      {{"node", node}, {"protocol", std::to_string(session.protocol())}});
}

void AgentSessions::NoteDismissed(const AgentSession& session,
                                  const absl::Status& why) {
  const std::string message(why.message());
  {
    const std::lock_guard lock(mutex_);
    const bool is_new = !dismissals_.contains(session.node());
    if (is_new && dismissals_.size() >= kMostDismissed) dismissals_.clear();
    RepeatedNews& news = dismissals_[session.node()];
    if (!news.IsDue(message, std::chrono::steady_clock::now())) return;
  }
  log_->Write(LogLevel::kWarning, "agent_dismissed",
              {{"node", session.node()}, {"message", message}});
}

std::string AgentSessions::SecretOf(const AttemptKey& attempt) const {
  return Sha256Of(gang_key_ + Sha256Of(gang_key_ + ToText(attempt)));
}

std::vector<std::shared_ptr<AgentSession>> AgentSessions::All() {
  std::vector<std::shared_ptr<AgentSession>> all;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, session] : sessions_) all.push_back(session);
  return all;
}

void AgentSessions::CloseAll(const absl::Status& status) {
  for (const auto& session : All()) session->Close(ToGrpc(status));
}

void AgentSessions::ReadLog(const std::string& node, const LogQuery& query,
                            Found found) {
  std::shared_ptr<AgentSession> session;
  int64_t request = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto id = nodes_.find(node);
    const auto open =
        id == nodes_.end() ? sessions_.end() : sessions_.find(id->second);
    if (open != sessions_.end()) {
      session = open->second;
      request = ++last_request_;
      requests_[request] = {id->second, found};
    }
  }
  if (!session) {
    return found(absl::UnavailableError("node " + node +
                                        ", which keeps the log, is not "
                                        "connected"));
  }
  v1::CoordinatorMessage message;
  v1::ReadLogOrder& order = *message.mutable_read_log();
  order.set_request(request);
  *order.mutable_attempt() = ToProto(query.attempt);
  order.set_stream(query.stream);
  order.set_offset(query.offset);
  order.set_limit(query.limit);
  order.set_rank(query.rank);
  session->Send(std::move(message));
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
  std::map<int64_t, std::shared_ptr<FileWeighing>> weighings;
  bool was_welcome = false;
  {
    const std::lock_guard lock(mutex_);
    weighings = weighings_;
    const auto found = sessions_.find(session);
    if (found == sessions_.end()) return;
    last = std::move(found->second);
    sessions_.erase(found);
    was_welcome = std::erase_if(nodes_, [&](const auto& node) {
                    return node.second == session;
                  }) > 0;
    for (auto at = requests_.begin(); at != requests_.end();) {
      if (at->second.session != session) {
        ++at;
        continue;
      }
      unanswered.push_back(std::move(at->second.found));
      at = requests_.erase(at);
    }
  }
  if (was_welcome) {
    log_->Write(LogLevel::kInfo, "agent_gone", {{"node", last->node()}});
  }
  for (const Found& found : unanswered) {
    found(absl::UnavailableError("the node went away before it answered"));
  }
  for (const auto& [request, weighing] : weighings) weighing->Lose(session);
}

}  // namespace leadline::rpc
