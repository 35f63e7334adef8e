// The one place that decides who comes in: calls of gRPC and routes of HTTP
// alike.

#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

#include "common/log.h"
#include "coordinator/access/call_rules.h"
#include "coordinator/access/clerk.h"
#include "coordinator/access/open_streams.h"
#include "coordinator/access/rates.h"
#include "coordinator/access/token_book.h"
#include "storage/access_store.h"

namespace leadline::access {

/// By which listener a call comes.
enum class Entrance {
  kSocket,    // of the state folder: who may open it may read the folder too
  kLoopback,  // this machine, in plain text
  kPublic,    // TLS
};

struct Limits {
  double calls_a_second = 500;  // of one caller, in the long run
  double calls_at_once = 2000;
  int64_t streams_of_caller = 200;
  int64_t streams_of_readers = 2000;  // all that are not of agents
};

/// What a call brings along.
struct Visit {
  Entrance entrance = Entrance::kPublic;
  std::string_view call;           // as in the table of calls
  std::string_view authorization;  // the header; empty if there is none
  bool is_stream = false;
};

struct Caller {
  std::string who;               // for the audit: "t3 ci", "local user ana"
  std::string key;               // for limits: "t3", "socket", "loopback"
  std::optional<int64_t> token;  // by which it came in; null: it needed none
  AccessRole role = AccessRole::kRead;
  std::string name = {};  // of that token; empty: it has none

  /// Who needs no token may do all that any token allows.
  bool May(AccessRole needed) const { return !token || Allows(role, needed); }
};

/// Thread-safe. Nothing in it blocks on the disk but Create and Revoke.
class Door {
 public:
  /// Reads the tokens there are. `store` and `log` must outlive it.
  static absl::StatusOr<std::unique_ptr<Door>> Open(storage::AccessStore& store,
                                                    Log& log,
                                                    Limits limits = {});

  /// Who calls, if it may. Unauthenticated without a good token where one is
  /// needed; PermissionDenied if its role is too small; ResourceExhausted
  /// beyond a limit; Unimplemented for a call that is not in the table. What is
  /// refused is in the audit.
  absl::StatusOr<Caller> Admit(const Visit& visit);

  /// The same caller again, for a call that was admitted. Null if its token has
  /// ended since.
  std::optional<Caller> Recognise(Entrance entrance,
                                  std::string_view authorization) const;

  /// A token was made at some time, and is not revoked or expired.
  bool HasValidToken() const;
  bool IsInUse() const { return book_.IsInUse(); }

  absl::StatusOr<storage::TokenRecord> Create(storage::TokenRecord token);

  /// Streams that came in by it are ended.
  absl::StatusOr<storage::TokenRecord> Revoke(int64_t id);

  OpenStreams& open_streams() { return open_streams_; }
  Clerk& clerk() { return *clerk_; }
  storage::AccessStore& store() { return store_; }

 private:
  Door(storage::AccessStore& store, Log& log, Limits limits,
       const std::vector<storage::TokenRecord>& tokens);

  absl::StatusOr<Caller> Identify(Entrance entrance,
                                  std::string_view authorization) const;
  absl::Status CheckLimits(const Visit& visit, const Caller& caller);
  absl::StatusOr<Caller> Refuse(const Visit& visit, const std::string& who,
                                const absl::Status& why);
  void EndStale();

  storage::AccessStore& store_;
  const Limits limits_;
  const std::string local_user_;
  TokenBook book_;
  Rates rates_;
  OpenStreams open_streams_;
  std::unique_ptr<Clerk> clerk_;  // last: its thread looks at the others
};

}  // namespace leadline::access
