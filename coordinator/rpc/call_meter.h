// Tells of every call how long it took and how it ended.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/server_interceptor.h>

namespace leadline::rpc {

/// `method` is "SweepService/Submit", `code` "OK", `seconds` the time from the
/// arrival of the call to its status: of a stream, its whole life. Called from
/// many threads; must not block.
using OnCall = std::function<void(std::string_view method,
                                  std::string_view code, double seconds)>;

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>
MakeCallMeter(OnCall on_call);

/// All methods of our services, as the meter names them.
std::vector<std::string> MethodNames();

/// "NOT_FOUND".
std::string_view CodeName(grpc::StatusCode code);

}  // namespace leadline::rpc
