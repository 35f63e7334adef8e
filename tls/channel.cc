#include "tls/channel.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <absl/status/status.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/support/client_interceptor.h>

#include "tls/host_port.h"

namespace leadline::tls {
namespace {

using grpc::experimental::ClientInterceptorFactoryInterface;
using grpc::experimental::InterceptionHookPoints;

/// Calls on a plain channel cannot carry gRPC's own call credentials.
class ShowToken final : public grpc::experimental::Interceptor {
 public:
  explicit ShowToken(const std::string& token) : token_(token) {}

  void Intercept(grpc::experimental::InterceptorBatchMethods* batch) override {
    if (batch->QueryInterceptionHookPoint(
            InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) {
      batch->GetSendInitialMetadata()->insert(
          {"authorization", "Bearer " + token_});
    }
    batch->Proceed();
  }

 private:
  const std::string& token_;  // of the factory, which the channel keeps
};

class ShowTokenFactory final : public ClientInterceptorFactoryInterface {
 public:
  explicit ShowTokenFactory(std::string token) : token_(std::move(token)) {}

  grpc::experimental::Interceptor* CreateClientInterceptor(
      grpc::experimental::ClientRpcInfo*) override {
    return new ShowToken(token_);
  }

 private:
  const std::string token_;
};

absl::Status CheckToken(const DialOptions& options) {
  if (!std::all_of(options.token.begin(), options.token.end(),
                   [](char c) { return c > ' ' && c < 127; })) {
    return absl::InvalidArgumentError(
        "the token holds what no token has: blanks or other characters");
  }
  const auto to = ParseHostPort(options.address);
  if (options.address.starts_with("unix:") || (to && IsLoopback(to->host)) ||
      IsEncrypted(options.address, options.files)) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError("refusing to send a token to " +
                                     options.address + " without TLS");
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::Channel>> Dial(
    const DialOptions& options, const grpc::ChannelArguments& arguments) {
  auto credentials = ClientCredentials(options.address, options.files);
  if (!credentials.ok()) return credentials.status();
  if (options.token.empty()) {
    return grpc::CreateCustomChannel(options.target, *credentials, arguments);
  }
  const absl::Status token = CheckToken(options);
  if (!token.ok()) return token;
  std::vector<std::unique_ptr<ClientInterceptorFactoryInterface>> shows;
  shows.push_back(std::make_unique<ShowTokenFactory>(options.token));
  return grpc::experimental::CreateCustomChannelWithInterceptors(
      options.target, *credentials, arguments, std::move(shows));
}

}  // namespace leadline::tls
