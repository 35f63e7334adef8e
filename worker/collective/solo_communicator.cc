#include "worker/collective/communicator.h"

namespace leadline::collective {
namespace {

class SoloCommunicator final : public Communicator {
 public:
  int64_t size() const override { return 1; }
  int64_t rank() const override { return 0; }
  std::string Transport() const override { return {}; }
  void SetStep(int64_t) override {}
  uint64_t StartAllReduce(const torch::Tensor&) override { return 0; }
  void Wait(uint64_t) override {}
  void Broadcast(torch::Tensor&, int64_t) override {}
  void Barrier(std::chrono::milliseconds) override {}
  void Abort(const std::string&) override {}
};

}  // namespace

std::unique_ptr<Communicator> MakeSoloCommunicator() {
  return std::make_unique<SoloCommunicator>();
}

}  // namespace leadline::collective
