// What people call to plan, submit, follow, pause, retry and cancel sweeps, and
// to have them explained.

#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "coordinator/access/door.h"
#include "coordinator/control/sinks.h"
#include "coordinator/rpc/agent_sessions.h"
#include "coordinator/rpc/attachments.h"
#include "coordinator/rpc/background.h"
#include "coordinator/rpc/watchers.h"
#include "leadline/v1/sweep_service.grpc.pb.h"
#include "storage/store_reader.h"

namespace leadline::rpc {

/// What the service works with; all of it must outlive the service.
struct SweepServiceParts {
  control::CommandSink& commands;
  const storage::StoreReader& reader;
  Background& background;
  Attachments& attachments;
  Watchers& watchers;
  AgentSessions& agents;
  const access::Door& door;
  std::filesystem::path state;  // the coordinator's folder
  /// Its only agent is of this machine and shares that folder.
  bool is_private = false;
};

struct Removal;

/// Handlers convert, post and reply: what reads files or the store is done in
/// the background, what changes anything on the thread of control.
class SweepService final : public v1::SweepService::CallbackService {
 public:
  explicit SweepService(SweepServiceParts parts) : parts_(std::move(parts)) {}

  grpc::ServerWriteReactor<v1::AttachReply>* Attach(
      grpc::CallbackServerContext*, const v1::AttachRequest* request) override;

  grpc::ServerWriteReactor<v1::PlanPart>* Plan(
      grpc::CallbackServerContext*, const v1::SubmitRequest* request) override;

  grpc::ServerUnaryReactor* Submit(grpc::CallbackServerContext* context,
                                   const v1::SubmitRequest* request,
                                   v1::SubmitReply* reply) override;

  grpc::ServerUnaryReactor* Cancel(grpc::CallbackServerContext* context,
                                   const v1::CancelRequest* request,
                                   v1::CancelReply* reply) override;

  grpc::ServerUnaryReactor* Retry(grpc::CallbackServerContext* context,
                                  const v1::RetryRequest* request,
                                  v1::RetryReply* reply) override;

  grpc::ServerUnaryReactor* Pause(grpc::CallbackServerContext* context,
                                  const v1::PauseRequest* request,
                                  v1::PauseReply* reply) override;

  grpc::ServerUnaryReactor* Resume(grpc::CallbackServerContext* context,
                                   const v1::ResumeRequest* request,
                                   v1::ResumeReply* reply) override;

  grpc::ServerUnaryReactor* Explain(grpc::CallbackServerContext* context,
                                    const v1::ExplainRequest* request,
                                    v1::ExplainReply* reply) override;

  grpc::ServerUnaryReactor* Edit(grpc::CallbackServerContext* context,
                                 const v1::EditRequest* request,
                                 v1::EditReply* reply) override;

  grpc::ServerUnaryReactor* Remove(grpc::CallbackServerContext* context,
                                   const v1::RemoveRequest* request,
                                   v1::RemoveReply* reply) override;

  grpc::ServerWriteReactor<v1::BackupPart>* Backup(
      grpc::CallbackServerContext*, const v1::BackupRequest* request) override;

  grpc::ServerWriteReactor<v1::Progress>* Watch(
      grpc::CallbackServerContext*, const v1::WatchRequest* request) override;

 private:
  void FinishDryRun(const Removal& removal, v1::RemoveReply* reply,
                    grpc::ServerUnaryReactor* reactor);
  std::vector<NodeKept> KeptHere(const Removal& removal,
                                 const std::stop_token& stop);
  void Follow(SweepId sweep, const std::shared_ptr<WatchStream>& stream);

  SweepServiceParts parts_;
  std::atomic<bool> backup_is_made_ = false;
  std::atomic<bool> files_are_weighed_ = false;
};

}  // namespace leadline::rpc
