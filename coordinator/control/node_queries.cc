#include "coordinator/control/node_queries.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <absl/status/status.h>

#include "coordinator/control/quarantine.h"
#include "coordinator/control/request_answers.h"

namespace leadline::control {
namespace {

/// A cohort and the part of its live attempt that is on the node.
using LiveByNode =
    std::multimap<std::string, std::pair<const Cohort*, const LivePart*>>;

LiveByNode GroupLive(State& state) {
  LiveByNode live;
  for (const CohortId& id : state.live) {
    const Cohort* cohort = state.FindCohort(id);
    for (const LivePart& part : cohort->live->parts) {
      if (!part.has_ended) live.emplace(part.node, std::pair(cohort, &part));
    }
  }
  return live;
}

NodeAttempt Describe(const Cohort& cohort, const LivePart& part) {
  const LiveAttempt& live = *cohort.live;
  NodeAttempt attempt;
  attempt.key = live.record.key;
  attempt.state = TrialState::kLeased;
  attempt.devices = part.devices;
  attempt.started_at = live.record.started_at;
  attempt.step = live.step;
  attempt.first_rank = part.first_rank;
  attempt.world_size = std::max<int64_t>(std::ssize(live.record.ranks), 1);
  for (int64_t rank = part.first_rank;
       rank <
       std::min(part.first_rank + part.ranks, std::ssize(live.record.ranks));
       ++rank) {
    attempt.ranks.push_back(live.record.ranks[static_cast<size_t>(rank)]);
  }
  for (const storage::TrialRecord& trial : cohort.trials) {
    if (!IsHeld(trial.state)) continue;
    if (attempt.trials++ == 0) {
      attempt.first = trial.id;
      attempt.state = trial.state;
    }
  }
  return attempt;
}

std::vector<NodeAttempt> AttemptsOf(const Node& node, const LiveByNode& live) {
  std::map<AttemptKey, NodeAttempt> attempts;
  for (const auto& [key, devices] : node.held) {
    attempts[key] = {.key = key, .devices = devices};
  }
  const auto [begin, end] = live.equal_range(node.name);
  for (auto at = begin; at != end; ++at) {
    NodeAttempt attempt = Describe(*at->second.first, *at->second.second);
    attempts[attempt.key] = std::move(attempt);
  }
  std::vector<NodeAttempt> list;
  list.reserve(attempts.size());
  for (auto& [key, attempt] : attempts) list.push_back(std::move(attempt));
  return list;
}

std::vector<DeviceNow> DevicesOf(const Node& node) {
  std::map<std::string, AttemptKey> taken;
  for (const auto& [key, devices] : node.held) {
    for (const std::string& device : devices) taken.emplace(device, key);
  }
  std::vector<DeviceNow> list;
  for (const DeviceInfo& device : node.devices) {
    const auto found = taken.find(device.id);
    list.push_back({device, found == taken.end()
                                ? std::nullopt
                                : std::optional(found->second)});
  }
  return list;
}

void Judge(const Node& node, bool is_awaited, SteadyTime now, NodeNow& view) {
  view.reason = WhyClosed(node, now);
  if (node.session) {
    view.state = node.record.quarantined ? NodeCondition::kQuarantined
                                         : NodeCondition::kReady;
    return;
  }
  view.state = is_awaited ? NodeCondition::kUnreachable : NodeCondition::kGone;
  std::string why = node.connection ? "its connection ended"
                                    : "not heard since the coordinator began";
  if (!view.reason.empty()) why += "; " + view.reason;
  view.reason = std::move(why);
}

NodeNow Describe(const Node& node, const LiveByNode& live, SteadyTime now) {
  NodeNow view;
  view.name = node.name;
  view.agent = node.agent;
  view.devices = DevicesOf(node);
  view.attempts = AttemptsOf(node, live);
  Judge(node, live.contains(node.name), now, view);
  if (!node.connection) return view;
  view.silent = now - node.heard;
  if (!node.session) return view;
  view.connected_at = node.connection->wall;
  view.connected = now - node.connection->steady;
  return view;
}

/// Those that were heard or failed, and those that attempts wait for since a
/// restart.
std::set<std::string> NamesOfNodes(const State& state, const LiveByNode& live) {
  std::set<std::string> names;
  for (const auto& [name, node] : state.nodes) names.insert(name);
  for (const auto& [name, part] : live) names.insert(name);
  return names;
}

absl::Status NoSuchNode(const std::string& name) {
  return absl::NotFoundError("no node " + name +
                             " is known; leadline nodes lists those that are");
}

/// Names have no blanks.
std::string Asked(const ClearNode& command) { return "clear " + command.node; }

absl::StatusOr<Answer> Repeat(const ClearNode& command) {
  const auto kept = AnswerFor(*command.kept_answer, Asked(command));
  const auto numbers = kept ? ReadNumbers(*kept, 2) : std::nullopt;
  if (!numbers) return UsedOtherwise(command.request_id);
  return ClearAnswer{numbers->at(0) != 0, numbers->at(1)};
}

}  // namespace

std::string_view Name(NodeCondition state) {
  switch (state) {
    case NodeCondition::kReady:
      return "ready";
    case NodeCondition::kQuarantined:
      return "quarantined";
    case NodeCondition::kUnreachable:
      return "unreachable";
    case NodeCondition::kGone:
      return "gone";
  }
  return "";
}

void Apply(Step& step, const LookAtNodes& command) {
  const LiveByNode live = GroupLive(step.state);
  NodesReport report;
  for (const std::string& name : NamesOfNodes(step.state, live)) {
    if (!command.node.empty() && name != command.node) continue;
    const auto found = step.state.nodes.find(name);
    Node unheard;
    unheard.name = name;
    report.nodes.push_back(
        Describe(found == step.state.nodes.end() ? unheard : found->second,
                 live, step.now.steady));
  }
  if (report.nodes.empty() && !command.node.empty()) {
    step.outcome.answer = NoSuchNode(command.node);
    return;
  }
  step.outcome.answer = std::move(report);
}

void Apply(Step& step, const ClearNode& command) {
  if (command.kept_answer) {
    step.outcome.answer = Repeat(command);
    return;
  }
  const auto found = step.state.nodes.find(command.node);
  const bool is_heard = found != step.state.nodes.end();
  if (!is_heard && !GroupLive(step.state).contains(command.node)) {
    step.outcome.answer = NoSuchNode(command.node);
    return;
  }
  const storage::NodeRecord record =
      is_heard ? found->second.record : storage::NodeRecord{};
  const ClearAnswer answer{record.quarantined, std::ssize(record.failures)};
  if (!record.IsClean()) {
    storage::NodeRecord clean;
    clean.name = command.node;
    step.Do(storage::SetNode{std::move(clean)});
    step.state.must_place = true;
  }
  step.Do(storage::KeepAnswer{
      command.request_id,
      Asked(command) + " " +
          NumbersText({answer.was_quarantined ? 1 : 0, answer.failures}),
      step.now.wall});
  step.outcome.answer = answer;
}

}  // namespace leadline::control
