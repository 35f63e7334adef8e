// What agents keep of sweeps: they ask which of them were removed, and are
// asked how much it is.

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "coordinator/rpc/agent_session.h"
#include "coordinator/rpc/agent_sessions.h"
#include "proto/protocol_version.h"

namespace leadline::rpc {
namespace {

constexpr int kMostKept = 1000;
// Agents say what they know by then.
constexpr std::chrono::milliseconds kPatience =
    kTimeToWeigh + std::chrono::milliseconds(500);

v1::CoordinatorMessage RemovedMessage(const std::vector<SweepId>& sweeps) {
  v1::CoordinatorMessage message;
  for (const SweepId sweep : sweeps) {
    message.mutable_removed()->add_sweeps(ToText(sweep));
  }
  return message;
}

v1::CoordinatorMessage WeighMessage(int64_t request,
                                    const std::vector<SweepId>& sweeps) {
  v1::CoordinatorMessage message;
  message.mutable_weigh()->set_request(request);
  for (const SweepId sweep : sweeps) {
    message.mutable_weigh()->add_sweeps(ToText(sweep));
  }
  return message;
}

std::map<control::SessionId, std::string> NamesOf(
    const std::map<std::string, std::shared_ptr<AgentSession>>& nodes) {
  std::map<control::SessionId, std::string> names;
  for (const auto& [node, session] : nodes) names[session->id()] = node;
  return names;
}

}  // namespace

void AgentSessions::TellRemoved(const std::vector<SweepId>& sweeps) {
  for (const auto& session : All()) session->Send(RemovedMessage(sweeps));
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

void AgentSessions::WeighFiles(const std::vector<SweepId>& sweeps,
                               const std::vector<std::string>& expected,
                               Weighed weighed) {
  std::map<std::string, std::shared_ptr<AgentSession>> asked;
  std::shared_ptr<FileWeighing> weighing;
  int64_t request = 0;
  {
    const std::lock_guard lock(mutex_);
    request = ++last_request_;
    asked = NodesThatWeigh();
    weighing = std::make_shared<FileWeighing>(
        NamesOf(asked), NodesThatCannotSay(expected),
        [this, request, weighed = std::move(weighed)](auto kept) {
          ForgetWeighing(request);
          weighed(std::move(kept));
        });
    weighings_[request] = weighing;
  }
  for (const auto& [node, session] : asked) {
    session->Send(WeighMessage(request, sweeps));
  }
  weighing->Start(kPatience);
}

std::map<std::string, std::shared_ptr<AgentSession>>
AgentSessions::NodesThatWeigh() {
  std::map<std::string, std::shared_ptr<AgentSession>> nodes;
  for (const auto& [node, id] : nodes_) {
    const auto session = sessions_.find(id);
    if (session == sessions_.end()) continue;
    if (session->second->protocol() < kProtocolOfWeighing) continue;
    nodes[node] = session->second;
  }
  return nodes;
}

std::vector<NodeKept> AgentSessions::NodesThatCannotSay(
    const std::vector<std::string>& expected) {
  std::vector<NodeKept> silent;
  for (const std::string& node : expected) {
    const auto id = nodes_.find(node);
    const auto session =
        id == nodes_.end() ? sessions_.end() : sessions_.find(id->second);
    if (session == sessions_.end()) {
      silent.push_back({node, {}, "it is not connected"});
    } else if (session->second->protocol() < kProtocolOfWeighing) {
      silent.push_back({node, {}, "its agent is of an older version"});
    }
  }
  return silent;
}

void AgentSessions::ForgetWeighing(int64_t request) {
  const std::lock_guard lock(mutex_);
  weighings_.erase(request);
}

void AgentSessions::OnWeighed(control::SessionId session,
                              const v1::WeighedSweeps& reply) {
  std::shared_ptr<FileWeighing> weighing;
  {
    const std::lock_guard lock(mutex_);
    const auto found = weighings_.find(reply.request());
    if (found == weighings_.end()) return;
    weighing = found->second;
  }
  weighing->Answer(session, {reply.attempts(), reply.checkpoints(),
                             reply.bytes(), reply.at_least()});
}

}  // namespace leadline::rpc
