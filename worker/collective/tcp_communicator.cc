#include "worker/collective/tcp_communicator.h"

#include <string>
#include <utility>

#include "worker/collective/element_of.h"
#include "worker/collective/ring/introduction.h"

namespace leadline::collective {

using torch::Tensor;

namespace {

class TcpCommunicator final : public Communicator {
 public:
  TcpCommunicator(std::unique_ptr<Ring> ring, int64_t rank, int64_t size)
      : ring_(std::move(ring)), rank_(rank), size_(size) {}

  int64_t size() const override { return size_; }
  int64_t rank() const override { return rank_; }
  std::string Transport() const override {
    return "tcp ring " + std::to_string(kProtocolVersion);
  }
  void SetStep(int64_t step) override { step_ = step; }

  uint64_t StartAllReduce(const Tensor& tensor) override {
    TORCH_CHECK(tensor.scalar_type() != torch::kUInt8, "bytes are not added");
    return Start(Task::kSum, tensor, 0);
  }

  void Wait(uint64_t operation) override { ring_->Wait(operation); }

  void Broadcast(Tensor& tensor, int64_t root) override {
    Tensor whole = tensor.contiguous();
    Wait(Start(Task::kCopy, whole, static_cast<uint32_t>(root)));
    if (!whole.is_same(tensor)) tensor.copy_(whole);
  }

  void Barrier(std::chrono::milliseconds patience) override {
    // The limit of all is the ring's own.
    if (patience == kOperationLimit) patience = std::chrono::milliseconds(0);
    Wait(ring_->Start({.task = Task::kMeet, .step = step_, .limit = patience}));
  }

  void Abort(const std::string& why) override { ring_->Abort(why); }

 private:
  uint64_t Start(Task task, const Tensor& tensor, uint32_t root) {
    TORCH_CHECK(tensor.is_cpu() && tensor.is_contiguous(),
                "ranks exchange whole tensors on the CPU");
    auto* const first = static_cast<std::byte*>(tensor.mutable_data_ptr());
    return ring_->Start({.task = task,
                         .element = ElementOf(tensor),
                         .root = root,
                         .step = step_,
                         .values = {first, tensor.nbytes()},
                         .keep = std::make_shared<Tensor>(tensor)});
  }

  std::unique_ptr<Ring> ring_;
  int64_t rank_;
  int64_t size_;
  int64_t step_ = 0;
};

}  // namespace

std::unique_ptr<Communicator> MakeTcpCommunicator(std::unique_ptr<Ring> ring,
                                                  int64_t rank, int64_t size) {
  return std::make_unique<TcpCommunicator>(std::move(ring), rank, size);
}

}  // namespace leadline::collective
