#include "cli/checkpoint_target.h"

#include <cstdlib>
#include <exception>
#include <map>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/checkpoint_list.h"
#include "cli/exit_code.h"
#include "common/ids.h"
#include "errors/error_code.h"
#include "flags/values.h"
#include "worker/checkpoint/bad_checkpoint.h"
#include "worker/checkpoint/checkpoint.h"
#include "worker/checkpoint/export.h"

namespace leadline::cli {
namespace {

namespace fs = std::filesystem;

std::string StateOf(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder / checkpoint::kManifestFile, error)) return "here";
  // Where its series lies it has been removed; else it is another machine's.
  return fs::is_directory(folder.parent_path(), error) ? "removed"
                                                       : "elsewhere";
}

int64_t NumberOf(const std::string& attempt) {
  const size_t at = attempt.rfind('@');
  return at == std::string::npos
             ? 0
             : std::strtoll(attempt.c_str() + at + 1, nullptr, 10);
}

absl::StatusOr<v1::ShowTrialReply> ShowTrial(Connection& connection,
                                             const std::string& trial) {
  v1::TrialRequest request;
  request.set_trial(trial);
  return connection.Ask<v1::ShowTrialReply>(
      [&](grpc::ClientContext* call, v1::ShowTrialReply* answer) {
        return connection.results().ShowTrial(call, request, answer);
      });
}

absl::StatusOr<std::string> DataOf(Connection& connection,
                                   const std::string& trial) {
  v1::TrialRequest request;
  request.set_trial(trial);
  const auto reply = connection.Ask<v1::TrainerConfigReply>(
      [&](grpc::ClientContext* call, v1::TrainerConfigReply* answer) {
        return connection.results().TrainerConfig(call, request, answer);
      });
  if (!reply.ok()) return reply.status();
  const auto config = nlohmann::json::parse(reply->json(), nullptr, false);
  if (config.is_discarded()) return std::string();
  const auto path = config.find("dataset");
  if (path == config.end() || !path->is_object()) return std::string();
  return path->value("path", std::string());
}

absl::Status WhyNone(const std::string& trial, const CheckpointTarget& target,
                     const TrialCheckpoints& all) {
  if (all.found.empty()) {
    return absl::NotFoundError(
        all.unread.empty()
            ? fmt::format("{} has no checkpoint; a sweep with "
                          "`checkpoint_every: end` keeps the last",
                          trial)
            : fmt::format("no checkpoint of {} is known: {}", trial,
                          all.unread));
  }
  if (target.step) {
    return absl::NotFoundError(
        fmt::format("no checkpoint of {} at step {} is on this machine: see "
                    "`leadline checkpoints {}`",
                    trial, *target.step, trial));
  }
  const FoundCheckpoint& last = all.found.back();
  if (last.state == "removed") {
    return absl::NotFoundError(
        fmt::format("the checkpoints of {} have been removed; a sweep with "
                    "`checkpoint_every: end` keeps the last",
                    trial));
  }
  return absl::NotFoundError(fmt::format(
      "the checkpoints of {} are on node {}, in {}: run this there, or let the "
      "agents share a folder (leadline-agent --checkpoints)",
      trial, last.node, fs::path(last.folder).parent_path().string()));
}

/// The step of the trial's best, as the newest manifest says it.
int64_t BestStep(const FoundCheckpoint& newest, int64_t seed) {
  const checkpoint::Checkpoint from(newest.folder);
  const int64_t replica = checkpoint::ReplicaOf(from, seed);
  return from.manifest().replicas[static_cast<size_t>(replica)].best_step;
}

absl::StatusOr<ChosenCheckpoint> ChooseOfTrial(Context& context,
                                               const CheckpointTarget& target) {
  const auto connection = context.Connect();
  if (!connection.ok()) return connection.status();
  const auto all = FindCheckpoints(**connection, target.target);
  if (!all.ok()) return all.status();
  std::map<int64_t, const FoundCheckpoint*> here;
  for (const FoundCheckpoint& one : all->found) {
    if (one.state == "here") here[one.step] = &one;
  }
  if (here.empty()) return WhyNone(target.target, target, *all);
  auto chosen = std::prev(here.end());
  if (target.step) chosen = here.find(*target.step);
  if (target.best) chosen = here.find(BestStep(*chosen->second, all->seed));
  if (chosen == here.end() && target.best) {
    return absl::NotFoundError(fmt::format(
        "the best checkpoint of {} has not been kept: checkpoints of `auto` "
        "are for going on alone, and steps between two checkpoints have none",
        target.target));
  }
  if (chosen == here.end()) return WhyNone(target.target, target, *all);
  return ChosenCheckpoint{chosen->second->folder, all->seed, all->data};
}

absl::StatusOr<ChosenCheckpoint> ChooseFolder(const CheckpointTarget& target) {
  if (target.step || target.best) {
    return absl::InvalidArgumentError(
        "--step and --best choose among the checkpoints of a trial");
  }
  ChosenCheckpoint chosen{target.target, 0, {}};
  const absl::Status status = Guarded(target.target, [&] {
    const checkpoint::Checkpoint from(target.target);
    const std::vector<int64_t> seeds = from.manifest().Seeds();
    if (!target.replica_seed && seeds.size() > 1) {
      return absl::InvalidArgumentError(
          fmt::format("{} holds several replicas: choose one of the seeds {} "
                      "with --replica-seed",
                      target.target, fmt::join(seeds, ", ")));
    }
    chosen.seed = target.replica_seed.value_or(seeds.front());
    checkpoint::ReplicaOf(from, chosen.seed);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return chosen;
}

}  // namespace

namespace {

/// Of several ranks the first alone writes them.
std::string NodeOf(const v1::AttemptSummary& attempt) {
  return attempt.ranks().empty() ? attempt.node()
                                 : attempt.ranks().begin()->node();
}

}  // namespace

absl::StatusOr<TrialCheckpoints> FindCheckpoints(Connection& connection,
                                                 const std::string& trial) {
  const auto shown = ShowTrial(connection, trial);
  if (!shown.ok()) return shown.status();
  TrialCheckpoints all;
  all.seed = shown->trial().seed();
  auto data = DataOf(connection, trial);
  if (data.ok()) all.data = *std::move(data);
  std::map<int64_t, FoundCheckpoint> by_step;
  for (const v1::AttemptSummary& attempt : shown->attempts()) {
    const auto lines =
        FetchCheckpoints(connection, trial, NumberOf(attempt.attempt()));
    if (!lines.ok()) {
      all.unread = fmt::format("{}: {}", attempt.attempt(),
                               std::string(lines.status().message()));
      continue;
    }
    for (const CheckpointLine& line : *lines) {
      by_step[line.step] = {line.step,       line.folder,
                            line.bytes,      attempt.attempt(),
                            NodeOf(attempt), StateOf(line.folder)};
    }
  }
  for (auto& [step, one] : by_step) all.found.push_back(std::move(one));
  return all;
}

void AddCheckpointTarget(CLI::App& app, CheckpointTarget& target) {
  app.add_option("target", target.target,
                 "id of a trial, or the folder of a checkpoint")
      ->option_text("TRIAL|CHECKPOINT")
      ->required();
  auto* step = app.add_option("--step", target.step,
                              "the trial's checkpoint of that step (default: "
                              "the newest on this machine)")
                   ->option_text("N")
                   ->check(flags::WholeNumber(0, int64_t{1} << 40));
  app.add_flag("--best", target.best,
               "the one of the trial's lowest fixed evaluation")
      ->excludes(step);
  app.add_option("--replica-seed", target.replica_seed,
                 "the replica of that seed, of a folder that holds several")
      ->option_text("SEED");
}

absl::StatusOr<ChosenCheckpoint> ChooseCheckpoint(
    Context& context, const CheckpointTarget& target) {
  if (!ParseTrialId(target.target).has_value()) return ChooseFolder(target);
  if (target.replica_seed) {
    return absl::InvalidArgumentError(
        "--replica-seed is for a folder: a trial has one seed");
  }
  absl::StatusOr<ChosenCheckpoint> chosen = ChosenCheckpoint{};
  const absl::Status status = Guarded(target.target, [&] {
    chosen = ChooseOfTrial(context, target);
    return chosen.status();
  });
  if (!status.ok()) return status;
  return chosen;
}

absl::Status Guarded(const std::string& where,
                     const std::function<absl::Status()>& read) {
  try {
    return read();
  } catch (const checkpoint::BadCheckpoint& bad) {
    return At(WithError(absl::DataLossError(bad.what()), ErrorCode::kFile),
              where);
  } catch (const std::exception& error) {  // the disk says no
    return WithError(absl::UnknownError(error.what()), ErrorCode::kFile);
  }
}

}  // namespace leadline::cli
