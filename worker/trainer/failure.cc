#include "worker/trainer/failure.h"

#include <new>
#include <string_view>
#include <system_error>

#include <c10/util/Exception.h>

#include "worker/checkpoint/bad_checkpoint.h"
#include "worker/collective/ring/collective_error.h"
#include "worker/dataset/data_error.h"
#include "worker/trainer/run_control.h"
#include "worker/trainer/strict_json.h"

namespace leadline::trainer {
namespace {

EndEvent Failed(FailureKind kind, std::string message) {
  return {AttemptOutcome::kFailed, kind, std::move(message)};
}

// The CPU allocator reports by a plain error whose text alone tells.
FailureKind KindOfTorchError(std::string_view message) {
  const auto holds = [&](std::string_view words) {
    return message.find(words) != std::string_view::npos;
  };
  if (holds("allocate memory") || holds("not enough memory")) {
    return FailureKind::kOom;
  }
  if (holds("NCCL")) return FailureKind::kNccl;
  // What a kernel asserts says nothing of the device.
  if (holds("device-side assert")) return FailureKind::kCrash;
  if (holds("CUDA") || holds("cuDNN")) return FailureKind::kDevice;
  return FailureKind::kCrash;
}

}  // namespace

EndEvent DescribeEnd(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Stopped& stopped) {
    return {stopped.request.outcome, stopped.request.kind,
            stopped.request.message};
  } catch (const Failure& failure) {
    return Failed(failure.kind(), failure.what());
  } catch (const ConfigError& wrong) {
    return Failed(FailureKind::kConfig, wrong.what());
  } catch (const collective::SetUpError& failed) {
    return Failed(FailureKind::kNcclInit, failed.what());
  } catch (const collective::OperationError& failed) {
    return Failed(FailureKind::kNccl, failed.what());
  } catch (const checkpoint::BadCheckpoint& wrong) {
    return Failed(FailureKind::kData, wrong.what());
  } catch (const dataset::DataError& wrong) {
    return Failed(FailureKind::kData, wrong.what());
  } catch (const std::system_error& failed) {
    return Failed(FailureKind::kDisk, failed.what());
  } catch (const c10::OutOfMemoryError& full) {
    return Failed(FailureKind::kOom, full.what_without_backtrace());
  } catch (const c10::Error& failed) {
    return Failed(KindOfTorchError(failed.what_without_backtrace()),
                  failed.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    return Failed(FailureKind::kOom, "out of memory");
  } catch (const std::exception& failed) {
    return Failed(FailureKind::kCrash, failed.what());
  } catch (...) {
    return Failed(FailureKind::kCrash, "an unknown exception");
  }
}

}  // namespace leadline::trainer
