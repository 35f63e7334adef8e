#include "tests/support/counting_allocator.h"

#include <atomic>
#include <cstddef>
#include <cstring>

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/alignment.h>
#include <c10/core/impl/alloc_cpu.h>

namespace leadline::testing {
namespace {

/// Keeps each block's size in front of it. What it returns is its own context:
/// oneDNN asks for memory without a deleter.
class CountingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    const c10::Device device(c10::kCPU);
    if (bytes == 0) return {nullptr, nullptr, &Free, device};
    auto* const start = static_cast<std::byte*>(c10::alloc_cpu(kFront + bytes));
    std::memcpy(start, &bytes, sizeof(bytes));
    Add(static_cast<int64_t>(bytes));
    void* const data = start + kFront;
    return {data, data, &Free, device};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &Free; }

  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

  int64_t live() const { return live_; }
  int64_t peak() const { return peak_; }
  void ForgetPeak() { peak_ = live_.load(); }

 private:
  static constexpr size_t kFront = c10::gAlignment;

  static void Free(void* data);

  void Add(int64_t bytes) {
    const int64_t now = live_ += bytes;
    int64_t peak = peak_;
    while (now > peak && !peak_.compare_exchange_weak(peak, now)) {
    }
  }

  std::atomic<int64_t> live_ = 0;
  std::atomic<int64_t> peak_ = 0;
};

/// Never freed: tensors may outlive everything else.
CountingAllocator& Installed() {
  static CountingAllocator* const allocator = [] {
    auto* made = new CountingAllocator;
    c10::SetAllocator(c10::kCPU, made, /*priority=*/1);
    return made;
  }();
  return *allocator;
}

void CountingAllocator::Free(void* data) {
  if (data == nullptr) return;
  auto* const start = static_cast<std::byte*>(data) - kFront;
  size_t bytes = 0;
  std::memcpy(&bytes, start, sizeof(bytes));
  Installed().live_ -= static_cast<int64_t>(bytes);
  c10::free_cpu(start);
}

}  // namespace

TensorBytes::TensorBytes() : start_(Installed().live()) {
  Installed().ForgetPeak();
}

int64_t TensorBytes::Live() const { return Installed().live() - start_; }

int64_t TensorBytes::Peak() const { return Installed().peak() - start_; }

}  // namespace leadline::testing
