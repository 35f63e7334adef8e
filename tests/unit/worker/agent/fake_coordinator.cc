#include "fake_coordinator.h"

#include <algorithm>

namespace leadline::agent {
namespace {

std::string TextOf(const v1::Attempt& attempt) {
  return attempt.cohort() + "@" + std::to_string(attempt.number());
}

}  // namespace

FakeCoordinator::FakeCoordinator(const std::string& address) {
  grpc::ServerBuilder builder;
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port_);
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
}

FakeCoordinator::~FakeCoordinator() {
  DropStreams();
  server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(2));
}

std::string FakeCoordinator::address() const {
  return "127.0.0.1:" + std::to_string(port_);
}

void FakeCoordinator::Change(const std::function<void(FakeHabits&)>& change) {
  const std::scoped_lock lock(mutex_);
  change(habits_);
}

bool FakeCoordinator::WaitFor(const std::function<bool(const Heard&)>& holds) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::seconds(60),
                           [&] { return holds(heard_); });
}

Heard FakeCoordinator::heard() const {
  const std::scoped_lock lock(mutex_);
  return heard_;
}

bool FakeCoordinator::Send(const v1::CoordinatorMessage& message) {
  const std::scoped_lock lock(mutex_);
  return stream_ != nullptr && stream_->Write(message);
}

void FakeCoordinator::DropStreams() {
  const std::scoped_lock lock(mutex_);
  for (grpc::ServerContext* context : contexts_) context->TryCancel();
}

grpc::Status FakeCoordinator::Session(grpc::ServerContext* context,
                                      Stream* stream) {
  {
    const std::scoped_lock lock(mutex_);
    if (habits_.refuses || habits_.bars) {
      ++heard_.streams_refused;
      changed_.notify_all();
    }
    if (habits_.refuses) {
      v1::Problems details;
      details.set_code("name_taken");
      return {grpc::StatusCode::FAILED_PRECONDITION,
              "another agent of that name lives", details.SerializeAsString()};
    }
    if (habits_.bars) {
      return {grpc::StatusCode::UNAUTHENTICATED, "no such token"};
    }
    contexts_.push_back(context);
    stream_ = stream;
    ++heard_.streams_open;
  }
  v1::AgentMessage message;
  grpc::Status status;
  while (status.ok() && stream->Read(&message)) {
    const std::scoped_lock lock(mutex_);
    if (!CanStore(message)) {
      status = {grpc::StatusCode::INTERNAL, "the change could not be stored"};
      continue;
    }
    heard_.largest_message =
        std::max(heard_.largest_message, message.ByteSizeLong());
    Hear(message, *stream);
    changed_.notify_all();
  }
  const std::scoped_lock lock(mutex_);
  std::erase(contexts_, context);
  if (stream_ == stream) stream_ = nullptr;
  --heard_.streams_open;
  changed_.notify_all();
  return status;
}

bool FakeCoordinator::CanStore(const v1::AgentMessage& message) const {
  for (const v1::TrainerRecord& record : message.records().records()) {
    if (record.sequence() == habits_.cannot_store && !record.has_unreadable()) {
      return false;
    }
  }
  return true;
}

void FakeCoordinator::Hear(const v1::AgentMessage& message, Stream& stream) {
  v1::CoordinatorMessage reply;
  switch (message.message_case()) {
    case v1::AgentMessage::kRegister:
      return HearRegister(message.register_(), stream);
    case v1::AgentMessage::kRecords:
      return HearRecords(message.records(), stream);
    case v1::AgentMessage::kHeartbeat:
      ++heard_.heartbeats;
      if (!habits_.renews) return;
      reply.mutable_renewal()->set_number(message.heartbeat().number());
      *reply.mutable_renewal()->mutable_attempts() =
          message.heartbeat().attempts();
      stream.Write(reply);
      return;
    case v1::AgentMessage::kEnded:
      heard_.ended.push_back(message.ended());
      if (!habits_.acknowledges_ends) return;
      *reply.mutable_ended_ack()->mutable_attempt() = message.ended().attempt();
      stream.Write(reply);
      return;
    case v1::AgentMessage::kStarted:
      heard_.started.push_back(message.started());
      return;
    case v1::AgentMessage::kWaiting:
      heard_.waiting.push_back(message.waiting());
      return;
    case v1::AgentMessage::kRefused:
      heard_.refused.push_back(message.refused());
      return;
    case v1::AgentMessage::kLog:
      heard_.logs.push_back(message.log());
      return;
    case v1::AgentMessage::kWeighed:
      heard_.weighed.push_back(message.weighed());
      return;
    case v1::AgentMessage::kKept:
    case v1::AgentMessage::MESSAGE_NOT_SET:
      return;
  }
}

void FakeCoordinator::HearRegister(const v1::Register& message,
                                   Stream& stream) {
  heard_.registers.push_back(message);
  v1::CoordinatorMessage reply;
  v1::Registered& registered = *reply.mutable_registered();
  registered.set_node(message.node());
  registered.set_lease_seconds(45);
  registered.set_heartbeat_seconds(habits_.heartbeat_seconds);
  registered.set_protocol_version(habits_.protocol);
  registered.set_least_protocol_version(habits_.least_protocol);
  for (const v1::LiveAttempt& live : message.attempts()) {
    v1::RecordAck& ack = *registered.add_acknowledged();
    *ack.mutable_attempt() = live.attempt();
    ack.set_sequence(
        static_cast<int64_t>(heard_.records[TextOf(live.attempt())].size()));
  }
  for (const v1::Attempt& attempt : habits_.superseded) {
    *registered.add_superseded() = attempt;
  }
  stream.Write(reply);
}

void FakeCoordinator::HearRecords(const v1::RecordBatch& batch,
                                  Stream& stream) {
  auto& kept = heard_.records[TextOf(batch.attempt())];
  for (const v1::TrainerRecord& record : batch.records()) {
    const auto next = static_cast<int64_t>(kept.size()) + 1;
    if (record.sequence() < next) ++heard_.repeated_records;
    if (record.sequence() > next) ++heard_.gaps;
    if (record.sequence() == next) kept.push_back(record);
  }
  if (!habits_.acknowledges) return;
  v1::CoordinatorMessage reply;
  *reply.mutable_ack()->mutable_attempt() = batch.attempt();
  reply.mutable_ack()->set_sequence(static_cast<int64_t>(kept.size()));
  stream.Write(reply);
}

}  // namespace leadline::agent
