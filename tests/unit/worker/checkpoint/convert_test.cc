#include "worker/checkpoint/convert.h"

#include <gmock/gmock.h>

#include "model/spec/conversion.h"
#include "model/spec/identity.h"
#include "tests/unit/worker/checkpoint/small_checkpoint.h"

namespace leadline::checkpoint {
namespace {

TEST_F(CheckpointTest, ConversionKeepsTheWeightsAndAddsConstants) {
  const std::string hash = WriteSmall(root_ / "plain", {5, 6});
  const Checkpoint plain(root_ / "plain");
  const spec::Resolution settings =
      spec::ConvertSettings(plain.manifest().settings, "block_attnres",
                            {{"block_sublayers", int64_t{2}}});
  ASSERT_TRUE(settings.errors.empty());
  const Conversion made = Convert(plain, settings.settings, root_ / "routed");
  const Checkpoint routed(root_ / "routed");
  EXPECT_EQ(routed.hash(), made.hash);
  const Manifest& manifest = routed.manifest();
  EXPECT_EQ(manifest.settings.method(), "block_attnres");
  EXPECT_EQ(manifest.settings.Word("eps_mode"), "compensated");
  EXPECT_EQ(manifest.settings.Number("norm_eps"), 1e-6);
  EXPECT_EQ(manifest.settings.Integer("block_sublayers"), 2);
  EXPECT_EQ(manifest.cell_hash,
            spec::CellHash(manifest.settings, manifest.dataset));
  EXPECT_EQ(manifest.step, 0);
  EXPECT_EQ(manifest.origin, (Origin{"convert", hash, "prenorm", 7}));
  EXPECT_FALSE(routed.has_moments());

  auto values = Values(routed.Parameters());
  for (const auto& [name, kept] : Values(plain.Parameters())) {
    EXPECT_EQ(values.at(name), kept) << name;
    values.erase(name);
  }
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(values.at("router.w"), std::vector<float>(2 * 5 * 4, 0));
  EXPECT_EQ(values.at("router.g"), std::vector<float>(2 * 5 * 4, 1));
}

std::string Refusal(const std::string& method, const std::string& target,
                    const spec::GivenSettings& options = {}) {
  const spec::Settings settings = spec::Resolve({{"method", method}}).settings;
  const spec::Resolution result =
      spec::ConvertSettings(settings, target, options);
  return result.errors.empty() ? "" : result.errors.front().message;
}

TEST(ConvertSettings, WhatWouldChangeLogitsIsRefused) {
  using testing::HasSubstr;
  EXPECT_EQ(Refusal("prenorm", "block_attnres"), "");
  EXPECT_THAT(Refusal("block_attnres", "block_attnres"),
              HasSubstr("of method block_attnres"));
  EXPECT_THAT(Refusal("prenorm", "wav"),
              HasSubstr("wav would not keep the logits"));
  EXPECT_THAT(Refusal("prenorm", "nothing"), HasSubstr("no method nothing"));
  EXPECT_THAT(Refusal("prenorm", "block_attnres", {{"rho", 2.0}}),
              HasSubstr("rho is no option of block_attnres, which has "
                        "eps_mode"));
  EXPECT_THAT(Refusal("prenorm", "block_attnres", {{"depth", int64_t{3}}}),
              HasSubstr("depth is no option"));
  EXPECT_THAT(Refusal("prenorm", "block_attnres", {{"router_init_std", 0.02}}),
              HasSubstr("router_init_std 0.02 would change the logits"));
}

}  // namespace
}  // namespace leadline::checkpoint
