// What a clique shares with its watchdog. Seen by the files of Clique alone.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "worker/collective/nccl/clique.h"

namespace leadline::collective::nccl {

/// Lives as long as a thread that may be held by a call into NCCL or the
/// device: these are let go of, never waited for without an end.
class Clique::Watched : public std::enable_shared_from_this<Watched> {
 public:
  Watched(Ring& ring, std::shared_ptr<const Library> library,
          std::shared_ptr<DeviceQueue> queue, CliqueOptions options);

  // ---- Called by the owner: watched.cc
  void Begin();  // after the constructor, once
  void Join(const UniqueId& id);
  uint64_t Start(const Order& order);
  void Wait(uint64_t number);
  void Abort(const std::string& why);
  int version() const { return library_->version(); }
  void End();  // before the ring goes, once

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;
  using Lock = std::unique_lock<std::mutex>;
  using DeviceCall = std::function<Result(Handle)>;

  struct Pending {
    Operation operation;
    std::shared_ptr<const DeviceMark> begun;
    std::shared_ptr<const DeviceMark> done;
    std::optional<SteadyTime> since{};  // when it was seen to have begun
  };
  struct Failure {
    std::string text;
    std::exception_ptr of_device{};  // in place of the text
    SteadyTime at{};
  };

  // ---- Calls into NCCL, one at a time: watched.cc
  Result Call(const DeviceCall& call);
  /// What was begun last: done, in progress, or how it failed.
  Result AsyncState();
  /// The end of what is in progress, or kInProgress at the deadline.
  Result Settle(Result result, SteadyTime deadline,
                const std::function<void()>& breathe);
  Result Issue(const Operation& operation, void* values);
  /// Null where it is done.
  std::optional<Pending> Find(uint64_t number);
  std::chrono::milliseconds CallLimit() const;

  // ---- How it fails, with the mutex held: watched_end.cc
  std::string Where(const Operation& operation) const;
  /// Of the first that is not done, if there is one.
  std::string Where() const;
  void Fail(const std::string& text, const std::exception_ptr& of_device = {});
  [[noreturn]] void FailAndThrow(const std::string& text);
  void ThrowIfFailed();
  /// Without the mutex: what `act` throws is what fails.
  void OnDevice(const Operation& operation, const std::function<void()>& act);
  void BeginToClose(bool aborts);
  std::chrono::milliseconds PatienceWithCalls() const;

  // ---- A thread of its own each
  void Watch();             // watchdog.cc
  void Close(bool aborts);  // watched_end.cc
  bool Part(Handle handle);

  // ---- What the watchdog looks at, with the mutex held: watchdog.cc
  void Look(Lock& lock);
  bool LookAtOthers(SteadyTime now);
  void LookAtDevice(Lock& lock, SteadyTime now, bool waits);
  void LookAtNccl(Lock& lock);
  void LookAfterOwner(Lock& lock);

  Ring& ring_;  // not to be touched once stop_ is set
  const std::shared_ptr<const Library> library_;
  const std::shared_ptr<DeviceQueue> queue_;
  const CliqueOptions options_;
  uint64_t next_number_ = 0;  // of the owner

  std::mutex mutex_;
  std::condition_variable changed_;
  // All below is guarded by mutex_.
  Handle handle_ = nullptr;
  bool joined_ = false;
  bool in_call_ = false;
  SteadyTime call_began_;
  std::optional<Operation> starting_;
  std::deque<Pending> pending_;
  std::optional<Failure> failure_;
  bool heard_ = false;  // the owner knows of the failure
  bool resorted_ = false;
  bool stop_ = false;
  bool watching_ = false;
  int closing_ = 0;  // threads
};

}  // namespace leadline::collective::nccl
