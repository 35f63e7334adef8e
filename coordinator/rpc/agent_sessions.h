// The streams of all agents: commands come in through them, orders go out.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>

#include "common/log.h"
#include "common/repeated_news.h"
#include "coordinator/control/outcome.h"
#include "coordinator/control/sinks.h"
#include "coordinator/rpc/background.h"
#include "coordinator/rpc/file_weighing.h"
#include "coordinator/rpc/log_source.h"
#include "coordinator/rpc/stream.h"
#include "leadline/v1/worker_service.pb.h"
#include "storage/store_reader.h"

namespace leadline::rpc {

class AgentSession;

/// Thread-safe.
class AgentSessions final : public LogSource {
 public:
  AgentSessions() = default;
  ~AgentSessions() override = default;

  /// Before the first stream: where commands go, and what agents ask is looked
  /// up. Of `gang_key`, which is random and told to nobody, the secret is made
  /// by which the ranks of one attempt know each other.
  void Connect(control::CommandSink& sink, std::string gang_key,
               const storage::StoreReader& reader, Background& background,
               Log& log) {
    log_ = &log;
    sink_ = &sink;
    gang_key_ = std::move(gang_key);
    reader_ = &reader;
    background_ = &background;
  }

  /// A stream that an agent opened.
  grpc::ServerBidiReactor<v1::AgentMessage, v1::CoordinatorMessage>* Open();

  /// Dropped if the session is gone.
  void Deliver(const control::AgentOrder& order);

  void CloseAll(const absl::Status& status);

  /// Every agent hears that what it keeps of those sweeps may go.
  void TellRemoved(const std::vector<SweepId>& sweeps);

  /// What nodes keep of those sweeps. Of nodes in `expected` something is said
  /// in any case, of others if they are connected.
  void WeighFiles(const std::vector<SweepId>& sweeps,
                  const std::vector<std::string>& expected, Weighed weighed);

  void ReadLog(const std::string& node, const LogQuery& query,
               Found found) override;

 private:
  friend class AgentSession;

  struct LogRequest {
    control::SessionId session;
    Found found;
  };

  std::shared_ptr<AgentSession> Find(control::SessionId session);
  std::vector<std::shared_ptr<AgentSession>> All();
  std::string SecretOf(const AttemptKey& attempt) const;
  void OnLogReply(control::SessionId session, const v1::LogReply& reply);
  void OnWeighed(control::SessionId session, const v1::WeighedSweeps& reply);
  void ForgetWeighing(int64_t request);
  std::map<std::string, std::shared_ptr<AgentSession>> NodesThatWeigh()
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<NodeKept> NodesThatCannotSay(
      const std::vector<std::string>& expected)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnEnded(control::SessionId session);

  void OnKept(const std::shared_ptr<AgentSession>& session,
              const v1::KeptSweeps& kept);

  /// To the log: an operator looks there for who came and went.
  void NoteWelcome(control::SessionId id, const AgentSession& session,
                   const std::string& node);

  /// What an agent tries again and again is told ever more rarely.
  void NoteDismissed(const AgentSession& session, const absl::Status& why);

  control::CommandSink* sink_ = nullptr;
  Log* log_ = nullptr;
  std::string gang_key_;
  const storage::StoreReader* reader_ = nullptr;
  Background* background_ = nullptr;
  std::mutex mutex_;
  std::map<control::SessionId, std::shared_ptr<AgentSession>> sessions_
      ABSL_GUARDED_BY(mutex_);
  std::map<std::string, control::SessionId> nodes_ ABSL_GUARDED_BY(mutex_);
  std::map<int64_t, LogRequest> requests_ ABSL_GUARDED_BY(mutex_);
  std::map<int64_t, std::shared_ptr<FileWeighing>> weighings_
      ABSL_GUARDED_BY(mutex_);
  std::map<std::string, RepeatedNews> dismissals_ ABSL_GUARDED_BY(mutex_);
  int64_t last_session_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t last_request_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace leadline::rpc
