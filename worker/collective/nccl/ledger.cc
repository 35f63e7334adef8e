#include "worker/collective/nccl/ledger.h"

#include <span>
#include <string>
#include <utility>

#include "worker/collective/ring/collective_error.h"

namespace leadline::collective::nccl {
namespace {

uint64_t Mix(uint64_t digest, uint64_t value) {
  for (int byte = 0; byte < 8; ++byte) {
    digest ^= value >> (8 * byte) & 0xffU;
    digest *= 1099511628211U;
  }
  return digest;
}

}  // namespace

void Ledger::Note(const Operation& operation) {
  for (const uint64_t value :
       {static_cast<uint64_t>(operation.task),
        static_cast<uint64_t>(operation.element),
        static_cast<uint64_t>(operation.root), operation.count,
        static_cast<uint64_t>(operation.step)}) {
    digest_ = Mix(digest_, value);
  }
}

void Ledger::Exchange(int64_t step) {
  Compare();
  step_ = step;
  told_ = std::make_shared<std::vector<int64_t>>(size_, 0);
  told_->at(static_cast<size_t>(rank_)) = static_cast<int64_t>(digest_);
  operation_ = ring_.Start({.task = Task::kSum,
                            .element = Element::kInt64,
                            .step = step,
                            .values = std::as_writable_bytes(std::span(*told_)),
                            .keep = told_});
}

void Ledger::Compare() {
  if (!operation_) return;
  ring_.Wait(*std::exchange(operation_, std::nullopt));
  for (size_t rank = 1; rank < told_->size(); ++rank) {
    if (told_->at(rank) == told_->front()) continue;
    throw OperationError("before step " + std::to_string(step_) + " rank " +
                         std::to_string(rank) +
                         " asked its device for other operations than rank 0");
  }
}

}  // namespace leadline::collective::nccl
