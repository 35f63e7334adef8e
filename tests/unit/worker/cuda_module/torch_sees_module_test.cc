// A program that links torch for CPUs only, as the trainer does.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/support/paths.h"
#include "worker/cuda_module/open.h"

namespace leadline::cuda_module {
namespace {

TEST(CudaModuleInTorch, OpenedBeforeTorchItBringsTorchsDeviceHalf) {
  ASSERT_EQ(Open(test::BuildDir()), std::nullopt);
  // Without the module this throws: the hooks are those of the CPU build.
  EXPECT_EQ(at::detail::getCUDAHooks().versionCUDART() / 1000, 13);
  EXPECT_EQ(torch::ones({3}).sum().item<double>(), 3);
}

}  // namespace
}  // namespace leadline::cuda_module
