#include "worker/collective/nccl_communicator.h"

#include <map>
#include <string>
#include <utility>

#include "worker/collective/element_of.h"
#include "worker/collective/nccl/ledger.h"
#include "worker/collective/tcp_communicator.h"

namespace leadline::collective {

using torch::Tensor;

namespace {

// Marks the numbers of operations on devices: the ring's own count from 0 too.
constexpr uint64_t kOnDevice = uint64_t{1} << 63U;

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(std::unique_ptr<Ring> ring,
                   std::unique_ptr<nccl::Clique> clique,
                   const nccl::CliqueOptions& options, int version,
                   IsOnDevice is_on_device)
      : ledger_(*ring, options.rank, options.size),
        cpus_(MakeTcpCommunicator(std::move(ring), options.rank, options.size)),
        clique_(std::move(clique)),
        version_(version),
        is_on_device_(std::move(is_on_device)) {}

  int64_t size() const override { return cpus_->size(); }
  int64_t rank() const override { return cpus_->rank(); }
  std::string Transport() const override {
    return "nccl " + nccl::VersionText(version_);
  }

  void SetStep(int64_t step) override {
    step_ = step;
    cpus_->SetStep(step);
    ledger_.Exchange(step);
  }

  uint64_t StartAllReduce(const Tensor& tensor) override {
    if (!is_on_device_(tensor)) return cpus_->StartAllReduce(tensor);
    TORCH_CHECK(tensor.scalar_type() != torch::kUInt8, "bytes are not added");
    return Start(Task::kSum, tensor, 0);
  }

  void Wait(uint64_t operation) override {
    if ((operation & kOnDevice) == 0) return cpus_->Wait(operation);
    clique_->Wait(operation & ~kOnDevice);
    // Their memory may be used anew: what follows is computed after this.
    kept_.erase(kept_.begin(), kept_.upper_bound(operation));
  }

  void Broadcast(Tensor& tensor, int64_t root) override {
    if (!is_on_device_(tensor)) return cpus_->Broadcast(tensor, root);
    Tensor whole = tensor.contiguous();
    Wait(Start(Task::kCopy, whole, static_cast<uint32_t>(root)));
    if (!whole.is_same(tensor)) tensor.copy_(whole);
  }

  void Barrier(std::chrono::milliseconds patience) override {
    cpus_->Barrier(patience);
    // Nobody gets past it where devices were asked for different things.
    ledger_.Exchange(step_);
    ledger_.Compare();
  }

  void Abort(const std::string& why) override {
    cpus_->Abort(why);
    clique_->Abort(why);
  }

 private:
  uint64_t Start(Task task, const Tensor& tensor, uint32_t root) {
    TORCH_CHECK(tensor.is_contiguous(), "ranks exchange whole tensors");
    const Element element = ElementOf(tensor);
    const auto count = static_cast<uint64_t>(tensor.numel());
    ledger_.Note({.task = task,
                  .element = element,
                  .root = root,
                  .count = count,
                  .step = step_});
    const uint64_t number = clique_->Start({.task = task,
                                            .element = element,
                                            .root = root,
                                            .step = step_,
                                            .values = tensor.mutable_data_ptr(),
                                            .count = count}) |
                            kOnDevice;
    kept_.emplace(number, tensor);
    return number;
  }

  nccl::Ledger ledger_;
  std::unique_ptr<Communicator> cpus_;  // has the ring
  std::map<uint64_t, Tensor> kept_;     // what the device works on
  std::unique_ptr<nccl::Clique> clique_;
  int version_;
  IsOnDevice is_on_device_;
  int64_t step_ = 0;
};

}  // namespace

std::unique_ptr<Communicator> MakeNcclCommunicator(
    std::unique_ptr<Ring> ring, std::shared_ptr<DeviceQueue> queue,
    const nccl::CliqueOptions& options, const std::string& library,
    IsOnDevice is_on_device) {
  auto clique = nccl::JoinClique(*ring, library, std::move(queue), options);
  const int version = clique->version();
  return std::make_unique<NcclCommunicator>(std::move(ring), std::move(clique),
                                            options, version,
                                            std::move(is_on_device));
}

}  // namespace leadline::collective
