// R6: a training goes on from a checkpoint, whole or split.

#include <cstdlib>
#include <filesystem>

#include "tests/exact/training_world.h"
#include "tests/exact/world.h"
#include "worker/checkpoint/replicas.h"
#include "worker/trainer/checkpoint_state.h"

namespace leadline::exact {
namespace {

namespace fs = std::filesystem;

using torch::Tensor;

class KeptTraining
    : public testing::TestWithParam<std::tuple<std::string, int64_t>> {
 protected:
  KeptTraining() {
    std::string pattern = testing::TempDir() + "kept_XXXXXX";
    root_ = mkdtemp(pattern.data());
  }
  ~KeptTraining() override { fs::remove_all(root_); }

  std::string method() const { return std::get<0>(GetParam()); }
  std::vector<int64_t> Seeds() const {
    return std::get<1>(GetParam()) == 1 ? std::vector<int64_t>{4}
                                        : std::vector<int64_t>{4, 5, 6};
  }

  fs::path root_;
};

void ExpectSameBits(const std::vector<Tensor>& a,
                    const std::vector<Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(torch::equal(a[i], b[i]));
}

TEST_P(KeptTraining, R6AResumedTrainingContinuesBitForBit) {
  for (const char* precision : {"fp32", "fp64"}) {
    const auto type = precision == std::string("fp64") ? Doubles() : Floats();
    const spec::Settings settings = Trained(method(), precision);
    Training straight(settings, Seeds(), type);
    straight.Losses(7);
    straight.Save(root_ / precision);
    Training resumed(settings, Seeds(), type);
    resumed.Load(root_ / precision);
    EXPECT_TRUE(torch::equal(straight.Losses(8), resumed.Losses(8)));
    for (const model::NamedParameter& p :
         straight.decoder.parameters_in_order()) {
      EXPECT_TRUE(torch::equal(p.tensor, Parameter(resumed.decoder, p.name)))
          << p.name;
    }
    ExpectSameBits(straight.optimizer().first_moments(),
                   resumed.optimizer().first_moments());
    ExpectSameBits(straight.optimizer().second_moments(),
                   resumed.optimizer().second_moments());
  }
}

/// The bounds of R3 on the distance of losses, over the first ten steps of a
/// training and over the next ninety.
void ExpectClose(const Tensor& a, const Tensor& b, const char* precision,
                 int64_t first_step) {
  const bool wide = precision == std::string("fp64");
  const Tensor distance = (a - b).abs();
  for (int64_t i = 0; i < distance.size(0); ++i) {
    const bool early = first_step + i < 10;
    const double limit = wide ? (early ? 1e-11 : 1e-9) : (early ? 1e-5 : 1e-3);
    EXPECT_LE(distance[i].max().item<double>(), limit) << i;
  }
}

TEST_P(KeptTraining, R6SplitItGoesOnAloneAndJoinedAgainTogether) {
  for (const char* precision : {"fp32", "fp64"}) {
    const auto type = precision == std::string("fp64") ? Doubles() : Floats();
    const spec::Settings settings = Trained(method(), precision);
    const fs::path root = root_ / precision;
    Training fused(settings, Seeds(), type);
    fused.Losses(5);
    fused.Save(root / "fused");
    const checkpoint::Checkpoint whole(root / "fused");
    const Tensor expected = fused.Losses(20);
    std::vector<std::unique_ptr<checkpoint::Checkpoint>> later;
    std::vector<const checkpoint::Checkpoint*> parts;
    for (size_t r = 0; r < Seeds().size(); ++r) {
      const auto replica = static_cast<int64_t>(r);
      const std::string name = std::to_string(r);
      checkpoint::SplitOff(whole, replica, root / name);
      Training solo(settings, {Seeds()[r]}, type);
      solo.Load(root / name);
      ExpectClose(solo.Losses(20).select(1, 0), expected.select(1, replica),
                  precision, 5);
      solo.Save(root / (name + "later"));
      later.push_back(
          std::make_unique<checkpoint::Checkpoint>(root / (name + "later")));
      parts.push_back(later.back().get());
    }
    checkpoint::Join(parts, root / "joined");
    Training joined(settings, Seeds(), type);
    joined.Load(root / "joined");
    ExpectClose(joined.Losses(10), fused.Losses(10), precision, 25);
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, KeptTraining,
                         testing::Combine(testing::ValuesIn(AllMethods()),
                                          testing::Values(1, 3)),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_R" +
                                  std::to_string(std::get<1>(info.param));
                         });

TEST(FrozenBase, TrainsTheMethodAlone) {
  const spec::Settings settings =
      Trained("block_attnres", "fp32", {{"freeze_base", std::string("on")}});
  Training training(settings, {4, 5}, Floats());
  const model::Decoder fresh(settings, kVocabulary, {4, 5}, Floats());
  training.Losses(3);
  for (const model::NamedParameter& p :
       training.decoder.parameters_in_order()) {
    EXPECT_NE(torch::equal(p.tensor, Parameter(fresh, p.name)), p.of_method)
        << p.name;
  }
  EXPECT_EQ(training.optimizer().parameters().size(), 2U);
}

TEST(FrozenBase, GivesTheMethodTheGradientsOfAWholeTraining) {
  const auto first_norms = [](const char* word) {
    Training training(
        Trained("block_attnres", "fp64", {{"freeze_base", std::string(word)}}),
        {4, 5}, Doubles());
    training.Step();
    return Parameter(training.decoder, "router.w").grad();
  };
  EXPECT_TRUE(torch::equal(first_norms("on"), first_norms("off")));
}

}  // namespace
}  // namespace leadline::exact
