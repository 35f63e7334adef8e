#include "tests/support/twin_communicator.h"

#include <string>

namespace leadline::testing {
namespace {

class TwinCommunicator final : public collective::Communicator {
 public:
  explicit TwinCommunicator(int64_t size) : size_(size) {}

  int64_t size() const override { return size_; }
  int64_t rank() const override { return 0; }
  std::string Transport() const override { return "twins"; }
  void SetStep(int64_t /*step*/) override {}
  uint64_t StartAllReduce(const torch::Tensor& tensor) override {
    torch::Tensor sum = tensor;
    sum *= size_;
    return 0;
  }
  void Wait(uint64_t /*operation*/) override {}
  void Broadcast(torch::Tensor& /*tensor*/, int64_t /*root*/) override {}
  void Barrier(std::chrono::milliseconds /*patience*/) override {}
  void Abort(const std::string& /*why*/) override {}

 private:
  int64_t size_;
};

}  // namespace

std::unique_ptr<collective::Communicator> MakeTwinCommunicator(int64_t size) {
  return std::make_unique<TwinCommunicator>(size);
}

}  // namespace leadline::testing
