#include "coordinator/rpc/call_meter.h"

#include <array>
#include <chrono>
#include <utility>

#include <google/protobuf/descriptor.h>

#include "leadline/v1/results_service.grpc.pb.h"
#include "leadline/v1/sweep_service.grpc.pb.h"
#include "leadline/v1/worker_service.grpc.pb.h"

namespace leadline::rpc {
namespace {

using Clock = std::chrono::steady_clock;
using grpc::experimental::InterceptionHookPoints;

/// "/leadline.v1.SweepService/Submit" without what all names share.
std::string_view ShortName(std::string_view method) {
  const size_t service = method.rfind('.', method.rfind('/'));
  return service == std::string_view::npos ? method
                                           : method.substr(service + 1);
}

/// Of one call.
class CallMeter final : public grpc::experimental::Interceptor {
 public:
  CallMeter(std::string_view method, const OnCall& on_call)
      : method_(ShortName(method)), on_call_(on_call) {}

  /// Nobody sent a status: the client went away.
  ~CallMeter() override { Tell(grpc::StatusCode::CANCELLED); }

  void Intercept(grpc::experimental::InterceptorBatchMethods* batch) override {
    if (batch->QueryInterceptionHookPoint(
            InterceptionHookPoints::PRE_SEND_STATUS)) {
      Tell(batch->GetSendStatus().error_code());
    }
    batch->Proceed();
  }

 private:
  void Tell(grpc::StatusCode code) {
    if (std::exchange(told_, true)) return;
    const std::chrono::duration<double> took = Clock::now() - begin_;
    on_call_(method_, CodeName(code), took.count());
  }

  const std::string method_;
  const OnCall& on_call_;
  const Clock::time_point begin_ = Clock::now();
  bool told_ = false;
};

class CallMeterFactory final
    : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit CallMeterFactory(OnCall on_call) : on_call_(std::move(on_call)) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* call) override {
    // gRPC owns it.
    return std::make_unique<CallMeter>(call->method(), on_call_).release();
  }

 private:
  const OnCall on_call_;
};

}  // namespace

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>
MakeCallMeter(OnCall on_call) {
  return std::make_unique<CallMeterFactory>(std::move(on_call));
}

std::vector<std::string> MethodNames() {
  std::vector<std::string> names;
  const auto* pool = google::protobuf::DescriptorPool::generated_pool();
  for (const char* service : {v1::SweepService::service_full_name(),
                              v1::ResultsService::service_full_name(),
                              v1::WorkerService::service_full_name()}) {
    const auto* descriptor = pool->FindServiceByName(service);
    for (int i = 0; descriptor && i < descriptor->method_count(); ++i) {
      names.push_back(descriptor->name() + "/" + descriptor->method(i)->name());
    }
  }
  return names;
}

std::string_view CodeName(grpc::StatusCode code) {
  // By number, https://grpc.io/docs/guides/status-codes/.
  static constexpr std::array<std::string_view, 17> kNames = {
      "OK",
      "CANCELLED",
      "UNKNOWN",
      "INVALID_ARGUMENT",
      "DEADLINE_EXCEEDED",
      "NOT_FOUND",
      "ALREADY_EXISTS",
      "PERMISSION_DENIED",
      "RESOURCE_EXHAUSTED",
      "FAILED_PRECONDITION",
      "ABORTED",
      "OUT_OF_RANGE",
      "UNIMPLEMENTED",
      "INTERNAL",
      "UNAVAILABLE",
      "DATA_LOSS",
      "UNAUTHENTICATED"};
  const auto number = static_cast<size_t>(code);
  return number < kNames.size() ? kNames[number] : "UNKNOWN";
}

}  // namespace leadline::rpc
