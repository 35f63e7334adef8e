// A coordinator behind TLS in this process, tokens of every kind, and any call
// of the protocol as a client that knows none of its messages makes it.

#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "common/sha256.h"
#include "coordinator/access/token_book.h"
#include "coordinator/coordinator.h"
#include "storage/open.h"
#include "tests/integration/coordinator/coordinator_world.h"
#include "tests/support/kept_log.h"
#include "tests/support/test_authority.h"
#include "tls/channel.h"

namespace leadline {

class DoorWorld {
 public:
  enum class Encrypted { kNo, kYes, kMutual };

  explicit DoorWorld(Encrypted encrypted, access::Limits limits = {}) {
    options_.config.state = folder_.path();
    options_.config.address.host = "127.0.0.1";
    options_.config.limits = limits;
    options_.config.http.emplace().host = "127.0.0.1";
    options_.version = "test";
    if (encrypted != Encrypted::kNo) {
      const auto files = authority_.Make("server");
      options_.config.tls = {files.certificate, files.key, ""};
      files_.ca = authority_.file();
    }
    options_.config.tls.look_again = std::chrono::seconds(1);
    if (encrypted == Encrypted::kMutual) {
      options_.config.tls.client_ca = authority_.file();
    }
    auto started = Coordinator::Start(options_, stores_, log_);
    EXPECT_TRUE(started.ok()) << started.status();
    coordinator_ = *std::move(started);
  }

  std::string address() { return coordinator_->address().ToText(); }
  Coordinator& coordinator() { return *coordinator_; }
  test::TestAuthority& authority() { return authority_; }
  storage::AccessStore& store() { return *stores_.access; }
  /// What the coordinator logged.
  std::vector<std::string> lines() { return log_.lines(); }
  tls::ClientFiles& files() { return files_; }
  const std::filesystem::path& folder() { return folder_.path(); }
  const tls::ServerFiles& server_files() { return options_.config.tls; }

  /// A new token, as it is shown.
  std::string Token(AccessRole role,
                    std::optional<storage::WallTime> expires = {}) {
    storage::TokenRecord token;
    token.role = role;
    token.name = std::string(Name(role));
    token.expires_at = expires;
    const std::string secret = Sha256Of("secret " + std::to_string(++made_));
    token.hash = Sha256Of(secret);
    const auto made = coordinator_->door().Create(token);
    EXPECT_TRUE(made.ok()) << made.status();
    return access::TokenSecretText(made->id, secret);
  }

  std::shared_ptr<grpc::Channel> Channel(const std::string& token) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    auto channel = tls::Dial({address(), address(), files_, token}, arguments);
    EXPECT_TRUE(channel.ok()) << channel.status();
    return *std::move(channel);
  }

  /// By the socket beside the address.
  std::shared_ptr<grpc::Channel> Socket() {
    return grpc::CreateChannel(
        "unix:" + (folder_.path() / "coordinator.sock").string(),
        grpc::InsecureChannelCredentials());
  }

  /// One empty message to the call; how it ended, OK if it answered at all.
  static grpc::Status Call(const std::shared_ptr<grpc::Channel>& channel,
                           const std::string& call) {
    grpc::GenericStub stub(channel);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(20));
    grpc::CompletionQueue queue;
    void* tag = nullptr;
    bool ok = false;
    const auto stream = stub.PrepareCall(&context, call, &queue);
    stream->StartCall(nullptr);
    queue.Next(&tag, &ok);
    const grpc::Slice nothing;
    const grpc::ByteBuffer message(&nothing, 1);
    if (ok) {
      stream->WriteLast(message, {}, nullptr);
      queue.Next(&tag, &ok);
    }
    grpc::ByteBuffer answer;
    stream->Read(&answer, nullptr);
    queue.Next(&tag, &ok);
    const bool answered = ok;
    if (answered) context.TryCancel();
    grpc::Status status;
    stream->Finish(&status, nullptr);
    queue.Next(&tag, &ok);
    return answered ? grpc::Status::OK : status;
  }

 private:
  TemporaryFolder folder_;
  test::KeptLog log_;
  CoordinatorOptions options_;
  test::TestAuthority authority_{folder_.path(), "authority"};
  tls::ClientFiles files_;
  storage::StorePair stores_ = storage::MakeMemoryStore();
  int made_ = 0;
  std::unique_ptr<Coordinator> coordinator_;
};

}  // namespace leadline
