// Logs of attempts that ran on this machine, readable when no agent is.

#pragma once

#include <filesystem>
#include <string>

#include "coordinator/rpc/background.h"
#include "coordinator/rpc/log_source.h"

namespace leadline::rpc {

/// A private coordinator and its agent share a state folder: the agent comes
/// only while work is wanted, its attempts' files stay. Reads those, and asks
/// `others` for attempts without a folder here. Thread-safe.
class LocalLogs final : public LogSource {
 public:
  /// `state` is the coordinator's state folder. All must outlive it.
  LocalLogs(const std::filesystem::path& state, Background& background,
            LogSource& others)
      : attempts_(state / "attempts"),
        background_(background),
        others_(others) {}

  void ReadLog(const std::string& node, const LogQuery& query,
               Found found) override;

 private:
  const std::filesystem::path attempts_;
  Background& background_;
  LogSource& others_;
};

}  // namespace leadline::rpc
