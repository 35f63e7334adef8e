// An agent that trains nothing: it speaks the agents' protocol over a real
// stream and invents results.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "leadline/v1/worker_service.grpc.pb.h"

namespace leadline {

inline v1::AgentMessage RegisterMessage(const std::string& node,
                                        int64_t slots) {
  v1::AgentMessage message;
  v1::Register& registration = *message.mutable_register_();
  registration.set_protocol_version(1);
  registration.set_least_protocol_version(1);
  registration.set_node(node);
  registration.set_instance("instance of " + node);
  for (int64_t i = 0; i < slots; ++i) {
    v1::Device& device = *registration.add_devices();
    device.set_id("cpu:" + std::to_string(i));
    device.set_type("cpu");
  }
  return message;
}

/// Owned by one thread; what it hears is handled on one of its own.
class FakeAgent {
 public:
  using Stream =
      grpc::ClientReaderWriter<v1::AgentMessage, v1::CoordinatorMessage>;
  using Hear =
      std::function<void(Stream& stream, const v1::CoordinatorMessage&)>;

  FakeAgent(const std::shared_ptr<grpc::Channel>& channel,
            const v1::AgentMessage& first, Hear hear = TrainAtOnce)
      : stub_(v1::WorkerService::NewStub(channel)),
        stream_(stub_->Session(&context_)),
        hear_(std::move(hear)) {
    stream_->Write(first);
    thread_ = std::jthread([this] {
      v1::CoordinatorMessage message;
      while (stream_->Read(&message)) hear_(*stream_, message);
    });
  }

  ~FakeAgent() {
    context_.TryCancel();
    if (thread_.joinable()) Finish();
  }

  /// Waits for the end of the stream.
  grpc::Status Finish() {
    thread_.join();
    return stream_->Finish();
  }

  Stream& stream() { return *stream_; }

  /// Answers an order to start with a whole attempt.
  static void TrainAtOnce(Stream& stream,
                          const v1::CoordinatorMessage& message) {
    if (!message.has_start()) return;
    const v1::StartAttempt& order = message.start();
    v1::AgentMessage started;
    *started.mutable_started()->mutable_attempt() = order.attempt();
    started.mutable_started()->set_device("cpu");
    stream.Write(started);
    v1::AgentMessage records;
    *records.mutable_records()->mutable_attempt() = order.attempt();
    v1::TrainerRecord& step = *records.mutable_records()->add_records();
    step.set_sequence(1);
    step.mutable_step()->set_step(1);
    for (int r = 0; r < order.seeds_size(); ++r) {
      step.mutable_step()->add_train_loss(2.0);
    }
    for (int r = 0; r < order.seeds_size(); ++r) {
      v1::TrainerRecord& record = *records.mutable_records()->add_records();
      record.set_sequence(r + 2);
      record.mutable_result()->set_replica(r);
      record.mutable_result()->set_seed(order.seeds(r));
      record.mutable_result()->mutable_result()->set_validation_loss(
          1.0 + static_cast<double>(order.seeds(r)));
    }
    stream.Write(records);
    v1::AgentMessage ended;
    *ended.mutable_ended()->mutable_attempt() = order.attempt();
    ended.mutable_ended()->set_last_sequence(order.seeds_size() + 1);
    stream.Write(ended);
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<v1::WorkerService::Stub> stub_;
  std::unique_ptr<Stream> stream_;
  Hear hear_;
  std::jthread thread_;
};

}  // namespace leadline
