#include "coordinator/rpc/doorkeeper.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <string_view>

#include <google/protobuf/descriptor.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/security/auth_metadata_processor.h>

#include "common/utf8_prefix.h"
#include "coordinator/rpc/call_target.h"
#include "coordinator/rpc/status.h"

namespace leadline::rpc {
namespace {

using access::Entrance;
using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::ServerRpcInfo;
using Metadata = std::multimap<grpc::string_ref, grpc::string_ref>;

constexpr size_t kMostMessage = 400;  // bytes of a failure, in the audit

std::string_view Find(const Metadata& metadata, const char* key) {
  const auto found = metadata.find(key);
  if (found == metadata.end()) return {};
  return {found->second.data(), found->second.size()};
}

bool IsStream(std::string_view path) {
  std::string name(path.substr(path.empty() ? 0 : 1));
  std::replace(name.begin(), name.end(), '/', '.');
  const auto* method =
      google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(
          name);
  return method != nullptr &&
         (method->client_streaming() || method->server_streaming());
}

class Gatekeeper final : public grpc::AuthMetadataProcessor {
 public:
  Gatekeeper(access::Door& door, Entrance entrance)
      : door_(door), entrance_(entrance) {}

  bool IsBlocking() const override { return false; }

  grpc::Status Process(const InputMetadata& metadata, grpc::AuthContext*,
                       OutputMetadata*, OutputMetadata*) override {
    const std::string_view path = Find(metadata, ":path");
    return ToGrpc(door_
                      .Admit({entrance_, path, Find(metadata, "authorization"),
                              IsStream(path)})
                      .status());
  }

 private:
  access::Door& door_;
  const Entrance entrance_;
};

/// Of one call; gRPC keeps it until the call is over.
class CallRecorder final : public grpc::experimental::Interceptor {
 public:
  CallRecorder(access::Door& door, ServerRpcInfo* info)
      : door_(door), info_(info), rule_(access::FindRule(info->method())) {}

  ~CallRecorder() override {
    if (number_ > 0) door_.open_streams().Remove(number_);
  }

  void Intercept(grpc::experimental::InterceptorBatchMethods* batch) override {
    if (batch->QueryInterceptionHookPoint(
            InterceptionHookPoints::PRE_SEND_CANCEL)) {
      return;
    }
    if (batch->QueryInterceptionHookPoint(
            InterceptionHookPoints::POST_RECV_INITIAL_METADATA)) {
      Begin();
    }
    if (!rule_ || !rule_->changes) return batch->Proceed();
    if (batch->QueryInterceptionHookPoint(
            InterceptionHookPoints::POST_RECV_MESSAGE)) {
      if (!noted_) AddTarget(batch->GetRecvMessage());
    }
    if (batch->QueryInterceptionHookPoint(
            InterceptionHookPoints::PRE_SEND_MESSAGE)) {
      AddTarget(batch->GetSendMessage());
      // The end of a stream may be far: its first answer says that it was let
      // in, and waits until that is on disk.
      if (!noted_ && IsStream()) {
        return Note(grpc::Status::OK, [batch] { batch->Proceed(); });
      }
    }
    if (!noted_ && batch->QueryInterceptionHookPoint(
                       InterceptionHookPoints::PRE_SEND_STATUS)) {
      return Note(batch->GetSendStatus(), [batch] { batch->Proceed(); });
    }
    batch->Proceed();
  }

 private:
  void Begin() {
    grpc::ServerContextBase* context = info_->server_context();
    const auto caller = CallerOf(door_, *context);
    // Its token ended in between.
    if (!caller) return context->TryCancel();
    who_ = caller->who;
    if (!IsStream()) return;
    number_ = door_.open_streams().Add({caller->key, caller->token,
                                        caller->role == AccessRole::kAgent,
                                        [context] { context->TryCancel(); }});
  }

  bool IsStream() const { return info_->type() != ServerRpcInfo::Type::UNARY; }

  void AddTarget(const void* message) {
    if (message == nullptr || !target_.empty()) return;
    // All messages of our services are of full protobuf.
    target_ = TargetOf(*static_cast<const google::protobuf::Message*>(message));
  }

  void Note(const grpc::Status& status, access::Clerk::Written written) {
    noted_ = true;
    const auto now = std::chrono::time_point_cast<storage::WallTime::duration>(
        std::chrono::system_clock::now());
    const auto code = static_cast<absl::StatusCode>(status.error_code());
    door_.clerk().Note(
        {0, now, who_, std::string(access::ShortName(rule_->call)), target_,
         absl::StatusCodeToString(code),
         std::string(Utf8Prefix(status.error_message(), kMostMessage)), 1},
        std::move(written));
  }

  access::Door& door_;
  ServerRpcInfo* info_;
  const access::CallRule* rule_;
  std::string who_ = "nobody";
  std::string target_;
  int64_t number_ = 0;  // among the open streams
  bool noted_ = false;
};

class CallRecorderFactory final
    : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit CallRecorderFactory(access::Door& door) : door_(door) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(
      ServerRpcInfo* info) override {
    return new CallRecorder(door_, info);
  }

 private:
  access::Door& door_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> GuardedCredentials(
    const ListenAddress& address, const tls::ServerFiles& files,
    access::Door& door) {
  std::shared_ptr<grpc::ServerCredentials> credentials;
  Entrance entrance = Entrance::kPublic;
  if (files.any()) {
    auto encrypted = tls::ServerCredentials(files);
    if (!encrypted.ok()) return encrypted.status();
    credentials = *std::move(encrypted);
  } else {
    // Plain text for the client; only such credentials can have a gatekeeper,
    // and they refuse peers of other machines by themselves.
    entrance = address.is_unix ? Entrance::kSocket : Entrance::kLoopback;
    credentials = grpc::experimental::LocalServerCredentials(
        address.is_unix ? UDS : LOCAL_TCP);
  }
  credentials->SetAuthMetadataProcessor(
      std::make_shared<Gatekeeper>(door, entrance));
  return credentials;
}

std::optional<access::Caller> CallerOf(const access::Door& door,
                                       const grpc::ServerContextBase& context) {
  const bool is_socket = context.peer().starts_with("unix:");
  return door.Recognise(is_socket ? Entrance::kSocket : Entrance::kLoopback,
                        Find(context.client_metadata(), "authorization"));
}

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>
MakeCallRecorder(access::Door& door) {
  return std::make_unique<CallRecorderFactory>(door);
}

}  // namespace leadline::rpc
