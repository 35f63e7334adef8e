#include "worker/cuda_module/open.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "tests/support/paths.h"

namespace leadline::cuda_module {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CudaModuleTest : public ::testing::Test {
 protected:
  CudaModuleTest() {
    std::string name = std::filesystem::temp_directory_path() / "cuda.XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~CudaModuleTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

Description TwoDevices() {
  Description description;
  description.devices.resize(2);
  description.devices[1].index = 1;
  description.devices[1].name = "Old One";
  description.devices[1].error = "no kernel image is available";
  return description;
}

TEST_F(CudaModuleTest, MissingModuleIsOneClearMessage) {
  EXPECT_THAT(Open(folder_).value_or("opened"),
              AllOf(StartsWith("this build has no CUDA module"),
                    HasSubstr("run scripts/setup --cuda")));
}

TEST_F(CudaModuleTest, FileThatIsNoLibraryIsRefused) {
  std::ofstream(folder_ / "libleadline_cuda.so") << "not a library";
  EXPECT_THAT(
      Open(folder_).value_or("opened"),
      AllOf(HasSubstr("cannot be opened"), HasSubstr("libleadline_cuda.so")));
}

TEST_F(CudaModuleTest, DescribeWithoutOpenThrows) {
  EXPECT_THROW(Describe(folder_), std::runtime_error);
}

TEST_F(CudaModuleTest, QueueWithoutOpenThrows) {
  EXPECT_THROW(MakeDeviceQueue(folder_, "cuda:0"), std::runtime_error);
}

TEST(CudaModule, ProgramFolderIsThatOfTheTest) {
  EXPECT_EQ(ProgramFolder(), test::BuildDir() / "tests");
}

TEST(CudaModule, UsableDeviceIsNotRefused) {
  EXPECT_EQ(Refusal(TwoDevices(), "cuda:0"), std::nullopt);
}

TEST(CudaModule, RefusalNamesDeviceAndReason) {
  EXPECT_EQ(Refusal(TwoDevices(), "cuda:1").value_or(""),
            "cannot train on cuda:1 (Old One): no kernel image is available");
  EXPECT_EQ(Refusal(TwoDevices(), "cuda:2").value_or(""),
            "cannot train on cuda:2: this machine has 2 CUDA devices");
  Description none;
  none.error = "no CUDA-capable device is detected";
  EXPECT_EQ(Refusal(none, "cuda:0").value_or(""),
            "cannot train on cuda:0: no CUDA-capable device is detected");
}

TEST(CudaModule, OfSeveralDevicesNoneIsATrainersOwn) {
  EXPECT_THAT(WhyNotAlone(TwoDevices()).value_or("accepted"),
              HasSubstr("was given one device and sees 2"));
  Description one;
  one.devices.resize(1);
  EXPECT_EQ(WhyNotAlone(one), std::nullopt);
}

TEST(CudaModule, NamesThatAreNoDeviceAreRefused) {
  for (const char* name : {"", "cpu", "cuda", "cuda:", "cuda:-1", "cuda:x",
                           "cuda:0x", "cuda:99999999999", "CUDA:0"}) {
    EXPECT_THAT(Refusal(TwoDevices(), name).value_or("accepted"),
                StartsWith("no CUDA device is named"))
        << name;
  }
}

#ifdef LEADLINE_HAS_CUDA_MODULE
TEST(CudaModule, OpensWhereItWasBuiltAndSaysWhatItSees) {
  ASSERT_EQ(Open(test::BuildDir()), std::nullopt);
  ASSERT_EQ(Open(test::BuildDir()), std::nullopt) << "a second time";
  const Description seen = Describe(test::BuildDir());
  EXPECT_THAT(seen.cuda_runtime, StartsWith("13."));
  EXPECT_THAT(seen.nccl, StartsWith("2."));
  // One or the other, whatever machine this is.
  EXPECT_EQ(seen.error.empty(), !seen.devices.empty()) << seen.error;
  for (const Device& device : seen.devices) {
    EXPECT_EQ(
        Refusal(seen, "cuda:" + std::to_string(device.index)).value_or(""), "");
    EXPECT_GT(device.memory_bytes, 0);
  }
}
#else
TEST(CudaModule, BuildWithoutItSaysSo) {
  EXPECT_THAT(Open(test::BuildDir()).value_or("opened"),
              HasSubstr("run scripts/setup --cuda"));
}
#endif

}  // namespace
}  // namespace leadline::cuda_module
