// How much nodes keep of sweeps: one question to several agents, and one answer
// when all have said it, have gone, or have taken too long.

#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <absl/base/thread_annotations.h>
#include <grpcpp/alarm.h>

#include "common/kept_files.h"
#include "coordinator/control/outcome.h"

namespace leadline::rpc {

/// What a node keeps, or why that is not known.
struct NodeKept {
  std::string node;
  KeptSize size;
  std::string unknown;  // why nobody can tell; empty: it is known
};

/// Who asked. Called once, from any thread, with the nodes in the order of
/// their names.
using Weighed = std::function<void(std::vector<NodeKept>)>;

/// Must be kept until it has answered. Thread-safe.
class FileWeighing : public std::enable_shared_from_this<FileWeighing> {
 public:
  /// Of sessions, with their nodes, that are about to be asked; `known` needs
  /// no asking. No node is in both.
  FileWeighing(std::map<control::SessionId, std::string> asked,
               std::vector<NodeKept> known, Weighed weighed);

  /// Once, after it is kept: it answers when that time is over, and at once
  /// where nobody is left to be asked.
  void Start(std::chrono::milliseconds patience);

  /// Ignored of who was not asked, or has answered.
  void Answer(control::SessionId session, const KeptSize& size);
  void Lose(control::SessionId session);

 private:
  void Note(control::SessionId session, NodeKept kept);
  void GiveUp();
  void FinishIfAnswered();

  std::mutex mutex_;
  std::map<control::SessionId, std::string> open_ ABSL_GUARDED_BY(mutex_);
  std::vector<NodeKept> kept_ ABSL_GUARDED_BY(mutex_);
  Weighed weighed_ ABSL_GUARDED_BY(mutex_);
  grpc::Alarm alarm_;
};

}  // namespace leadline::rpc
