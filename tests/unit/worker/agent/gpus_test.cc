#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/paths.h"
#include "worker/agent/gpu_choice.h"
#include "worker/agent/nvml_prober.h"
#include "worker/agent/offer.h"

namespace leadline::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string FakeNvml() {
  return (test::BuildDir() / "tests" / "libfake_nvml.so").string();
}

/// The fake library behaves so while this lives.
class Machine {
 public:
  explicit Machine(const std::string& gpus) {
    setenv("LEADLINE_FAKE_NVML", gpus.c_str(), 1);
  }
  ~Machine() { unsetenv("LEADLINE_FAKE_NVML"); }

  absl::StatusOr<GpuList> List() { return NvmlProber(FakeNvml()).ListGpus(); }
};

std::vector<Gpu> FourGpus() { return Machine("4").List()->gpus; }

std::vector<int64_t> Indices(const absl::StatusOr<std::vector<Gpu>>& gpus) {
  std::vector<int64_t> indices;
  for (const Gpu& gpu : *gpus) indices.push_back(gpu.index);
  return indices;
}

TEST(Nvml, ListsGpusByUuidWithNameAndMemory) {
  const auto list = Machine("2").List();
  ASSERT_TRUE(list.ok()) << list.status();
  ASSERT_THAT(list->gpus, SizeIs(2));
  EXPECT_EQ(list->gpus[1].index, 1);
  EXPECT_EQ(list->gpus[1].uuid, "GPU-00000001-fake");
  EXPECT_EQ(list->gpus[1].name, "NVIDIA Fake");
  EXPECT_EQ(list->gpus[1].memory_bytes, int64_t{1} << 34);
  EXPECT_THAT(list->problems, IsEmpty());
}

TEST(Nvml, MachineWithoutLibraryDriverOrGpuHasNone) {
  const auto no_library = NvmlProber("/nowhere/libnvidia-ml.so.1").ListGpus();
  ASSERT_TRUE(no_library.ok());
  EXPECT_THAT(no_library->gpus, IsEmpty());
  EXPECT_THAT(no_library->none_because, HasSubstr("/nowhere"));
  const auto no_driver = Machine("4:init=9").List();
  ASSERT_TRUE(no_driver.ok());
  EXPECT_THAT(no_driver->gpus, IsEmpty());
  EXPECT_THAT(no_driver->none_because, HasSubstr("driver"));
  EXPECT_THAT(Machine("0").List()->gpus, IsEmpty());
}

TEST(Nvml, GpusThatCannotBeUsedAreAnErrorWithAWayOut) {
  for (const auto& [machine, part] :
       {std::pair{"4:init=4", "/dev/nvidia"},
        std::pair{"4:init=18", "driver was updated"},
        std::pair{"4:init=999", "nvidia-smi"},
        std::pair{"4:count=4", "counting GPUs"}}) {
    const auto list = Machine(machine).List();
    ASSERT_FALSE(list.ok()) << machine;
    EXPECT_THAT(std::string(list.status().message()), HasSubstr(part));
    EXPECT_THAT(std::string(list.status().message()),
                HasSubstr("--devices none"));
  }
}

TEST(Nvml, LostGpuIsLeftOutAndTheOthersStay) {
  for (const char* call : {"handle", "uuid", "name", "memory"}) {
    const auto list = Machine("3:" + std::string(call) + "=15@1").List();
    ASSERT_TRUE(list.ok()) << list.status();
    ASSERT_THAT(list->gpus, SizeIs(2)) << call;
    EXPECT_EQ(list->gpus[1].index, 2);
    ASSERT_THAT(list->problems, SizeIs(1));
    EXPECT_THAT(list->problems[0], HasSubstr("GPU 1: GPU is lost"));
  }
}

TEST(Nvml, LibraryOfAnotherKindIsRefused) {
  const auto list = NvmlProber("libm.so.6").ListGpus();
  EXPECT_THAT(std::string(list.status().message()), HasSubstr("functions"));
}

TEST(GpuChoice, CudaVisibleDevicesIsReadAsCudaReadsIt) {
  const std::vector<Gpu> gpus = FourGpus();
  const auto shown = [&](std::optional<std::string> text) {
    return Indices(VisibleGpus(gpus, text));
  };
  EXPECT_THAT(shown(std::nullopt), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(shown(""), IsEmpty());
  EXPECT_THAT(shown("2,0"), ElementsAre(2, 0));
  EXPECT_THAT(shown("GPU-00000003-fake, 1"), ElementsAre(3, 1));
  EXPECT_THAT(shown("GPU-00000003"), ElementsAre(3));
  EXPECT_THAT(shown("1,-1,2"), ElementsAre(1));
  EXPECT_THAT(shown("1,9,2"), ElementsAre(1));
  EXPECT_THAT(shown("GPU-"), IsEmpty());
  EXPECT_THAT(shown("NoDevFiles"), IsEmpty());
  EXPECT_FALSE(VisibleGpus(gpus, "1,1").ok());
}

TEST(GpuChoice, DevicesCountAmongTheVisible) {
  const std::vector<Gpu> visible = *VisibleGpus(FourGpus(), "3,1");
  EXPECT_THAT(Indices(ChosenGpus(visible, "")), ElementsAre(3, 1));
  EXPECT_THAT(Indices(ChosenGpus(visible, "1")), ElementsAre(1));
  EXPECT_THAT(Indices(ChosenGpus(visible, "GPU-00000003-fake,1")),
              ElementsAre(3, 1));
  EXPECT_THAT(Indices(ChosenGpus(visible, "none")), IsEmpty());
  for (const char* bad :
       {"2", "0,0", "0,", "x", "GPU-00000002-fake", "-1", "0;1"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ChosenGpus(visible, bad).status()))
        << bad;
  }
}

absl::StatusOr<Offer> OfferOn(const std::string& machine,
                              const OfferWishes& wishes) {
  const Machine now(machine);
  NvmlProber prober(FakeNvml());
  return MakeOffer(wishes, prober);
}

std::vector<std::string> Ids(const absl::StatusOr<Offer>& offer) {
  std::vector<std::string> ids;
  for (const HeldDevice& device : offer->devices) ids.push_back(device.id);
  return ids;
}

TEST(OfferTest, MachineWithGpusOffersSlotsOnlyIfAsked) {
  OfferWishes wishes;
  wishes.cores = 8;
  EXPECT_THAT(Ids(OfferOn("2", wishes)),
              ElementsAre("GPU-00000000-fake", "GPU-00000001-fake"));
  wishes.slots = 1;
  EXPECT_THAT(Ids(OfferOn("2", wishes)),
              ElementsAre("GPU-00000000-fake", "GPU-00000001-fake", "cpu:0"));
  wishes.slots.reset();
  wishes.cores = 2;
  EXPECT_THAT(Ids(OfferOn("0", wishes)), ElementsAre("cpu:0", "cpu:1"));
}

TEST(OfferTest, EveryGpuIsTheFirstOfItsTrainer) {
  const auto offer = OfferOn("2", {});
  EXPECT_EQ(offer->devices[1].trainer_name, "cuda:0");
  EXPECT_EQ(offer->devices[1].type, "NVIDIA Fake");
  EXPECT_EQ(offer->devices[1].memory_bytes, int64_t{1} << 34);
}

TEST(OfferTest, NobodyWhoWantsNoGpuHearsOfBrokenOnes) {
  OfferWishes wishes;
  wishes.devices = "none";
  EXPECT_THAT(Ids(OfferOn("2:init=18", wishes)), ElementsAre("cpu:0"));
}

TEST(OfferTest, WhoAsksForGpusThatAreNotThereIsToldWhy) {
  OfferWishes wishes;
  wishes.devices = "0";
  for (const auto& [machine, part] :
       {std::pair{"0", "knows of none"}, std::pair{"2:init=9", "not loaded"},
        std::pair{"1:handle=15@0", "GPU is lost"},
        std::pair{"2:init=4", "Insufficient"}}) {
    const auto offer = OfferOn(machine, wishes);
    ASSERT_FALSE(offer.ok()) << machine;
    EXPECT_THAT(std::string(offer.status().message()), HasSubstr(part));
  }
}

TEST(OfferTest, TrainerWithoutItsCudaModuleGetsSlots) {
  OfferWishes wishes;
  wishes.trains_on_gpus = false;
  const auto offer = OfferOn("2", wishes);
  EXPECT_THAT(Ids(offer), ElementsAre("cpu:0"));
  EXPECT_THAT(offer->notes, ElementsAre(HasSubstr("CUDA module")));
  wishes.devices = "1";
  EXPECT_FALSE(OfferOn("2", wishes).ok());
}

TEST(OfferTest, LostGpuIsNotedAndTheRestOffered) {
  const auto offer = OfferOn("2:uuid=15@0", {});
  EXPECT_THAT(Ids(offer), ElementsAre("GPU-00000001-fake"));
  EXPECT_THAT(offer->notes, ElementsAre(HasSubstr("GPU 0")));
}

}  // namespace
}  // namespace leadline::agent
