#include "model/spec/cost.h"

#include <gtest/gtest.h>

namespace leadline::spec {
namespace {

Settings Cell(GivenSettings given) {
  const Resolution cell = Resolve(given);
  for (const SettingError& error : cell.errors) {
    ADD_FAILURE() << error.key << ": " << error.message;
  }
  return cell.settings;
}

Settings Cell(std::string method, int64_t depth, int64_t width = 256,
              GivenSettings more = {}) {
  more.insert({{"method", method}, {"depth", depth}, {"d_model", width}});
  return Cell(std::move(more));
}

TEST(CountParameters, EqualsThePublishedBase) {
  EXPECT_EQ(CountParameters(Cell("prenorm", 12), 27), 12'596'224);
  EXPECT_EQ(CountParameters(Cell("prenorm", 24), 27), 25'185'280);
  EXPECT_EQ(CountParameters(Cell("prenorm", 48), 27), 50'363'392);
  EXPECT_EQ(CountParameters(Cell("prenorm", 12, 512), 27), 50'358'272);
  EXPECT_EQ(CountParameters(Cell("prenorm", 24, 512), 27), 100'702'208);
  EXPECT_EQ(CountParameters(Cell("prenorm", 48, 512), 27), 201'390'080);
}

TEST(CountParameters, LeavesOutTheEmbeddingWithoutAVocabulary) {
  EXPECT_EQ(CountParameters(Cell("prenorm", 12), {}), 12'596'224 - 27 * 256);
}

TEST(CountParameters, CountsAnUntiedHeadAndSharedKeyValueHeads) {
  EXPECT_EQ(
      CountParameters(Cell("prenorm", 12, 256, {{"tied_head", "off"}}), 27),
      12'596'224 + 27 * 256);
  EXPECT_EQ(CountParameters(
                Cell("prenorm", 12, 256, {{"n_kv_heads", int64_t{1}}}), 27),
            12'596'224 - 12 * 2 * 256 * (256 - 64));
}

TEST(CountMethodParameters, EqualsTheTable) {
  const auto count = [](const char* method, int64_t width) {
    return CountMethodParameters(Cell(method, 48, width));
  };
  EXPECT_EQ(count("prenorm", 256), 0);
  EXPECT_EQ(count("rezero", 256), 96);
  EXPECT_EQ(count("layerscale", 256), 24'576);
  EXPECT_EQ(count("layerscale", 512), 49'152);
  EXPECT_EQ(count("block_layerscale", 256), 1'536);
  EXPECT_EQ(count("block_layerscale", 512), 3'072);
  EXPECT_EQ(count("block_attnres", 256), 49'664);
  EXPECT_EQ(count("block_attnres", 512), 99'328);
  EXPECT_EQ(count("attnres", 256), 49'664);
  EXPECT_EQ(count("attnres", 512), 99'328);
  EXPECT_EQ(count("mhar", 256), 49'664);
  EXPECT_EQ(count("wav", 256), 49'856);
  EXPECT_EQ(count("wav", 512), 99'520);
  for (const char* haares : {"haares", "haares_dup", "haares_random"}) {
    EXPECT_EQ(count(haares, 256), 49'760) << haares;
    EXPECT_EQ(count(haares, 512), 99'424) << haares;
  }
  EXPECT_EQ(count("haares_fixedbias", 256), 49'664);
  for (const char* delta : {"delta_attnres", "delta_block",
                            "delta_block_nopartial", "delta_block_repo"}) {
    EXPECT_EQ(count(delta, 256), 49'152) << delta;
    EXPECT_EQ(count(delta, 512), 98'304) << delta;
  }
  EXPECT_EQ(CountMethodParameters(Cell("delta_attnres", 36, 4096)), 589'824)
      << "as published";
  EXPECT_EQ(count("denseformer", 256), 1'224);
  EXPECT_EQ(count("denseformer", 512), 1'224);
  EXPECT_EQ(count("hyper_connections", 256), 174'528);
  EXPECT_EQ(count("hyper_connections", 512), 346'560);
  EXPECT_EQ(count("mhc", 256), 2'361'888);
  EXPECT_EQ(count("mhc", 512), 4'721'184);
  EXPECT_EQ(count("deepnorm", 256), -256);
}

TEST(CountMethodParameters, FollowsOptionsOfMethodsWithoutRouters) {
  const auto count = [](const char* method, GivenSettings more) {
    return CountMethodParameters(Cell(method, 12, 64, std::move(more)));
  };
  const auto word = [](const char* text) { return std::string(text); };
  EXPECT_EQ(count("denseformer", {{"period", int64_t{5}}}), 6 + 11);
  EXPECT_EQ(
      count("denseformer", {{"period", int64_t{4}}, {"dilation", int64_t{3}}}),
      2 + 3 + 5);
  EXPECT_EQ(count("hyper_connections", {{"dynamic", word("off")}}),
            24 * (16 + 8));
  EXPECT_EQ(count("hyper_connections", {{"streams", int64_t{2}}}),
            24 * (4 + 4 + 5 * 64 + 2));
  EXPECT_EQ(count("mhc", {{"streams", int64_t{3}},
                          {"residual", word("permutations")}}),
            24 * (3 * 64 * (6 + 6) + 6 + 6 + 3));
  EXPECT_EQ(count("prenorm", {{"value_residual", word("learned")}}), 22);
  EXPECT_EQ(count("wav", {{"value_residual", word("constant")}}),
            count("wav", {}));
}

TEST(CountMethodParameters, FollowsOptions) {
  const auto count = [](const char* method, GivenSettings more) {
    return CountMethodParameters(Cell(method, 48, 256, std::move(more)));
  };
  EXPECT_EQ(count("rezero", {{"per", "layer"}}), 48);
  EXPECT_EQ(count("rezero", {{"norm", "off"}}), 96 - 96 * 256);
  EXPECT_EQ(count("block_layerscale", {{"block_sublayers", int64_t{35}}}),
            3 * 256)
      << "the last block is short";
  EXPECT_EQ(count("wav", {{"detail_bias_mode", "shared"}}), 49'664 + 2);
  EXPECT_EQ(count("wav", {{"detail_bias_mode", "fixed"}}), 49'664);
  EXPECT_EQ(count("wav", {{"details", "off"}}), 49'664);
  EXPECT_EQ(count("wav", {{"detail_bias", "-inf"}}), 49'664);
  EXPECT_EQ(count("haares", {{"detail_bias_mode", "shared"}}), 49'664 + 1);
  EXPECT_EQ(count("haares_dup", {{"detail_bias_mode", "fixed"}}), 49'664);
  EXPECT_EQ(count("haares_random", {{"details", "off"}}), 49'664);
  EXPECT_EQ(count("delta_block", {{"gate", "scalar"}}), 49'152 + 96);
  EXPECT_EQ(count("delta_block", {{"null_source", "logit"}}), 49'152 + 96);
  EXPECT_EQ(count("delta_attnres", {{"null_source", "vector"}}),
            49'152 + 24'576);
  EXPECT_EQ(count("delta_attnres", {{"static_mixing", "on"}}), 4655);
  EXPECT_EQ(count("delta_attnres",
                  {{"static_mixing", "on"}, {"null_source", "vector"}}),
            4655 + 95 + 24'576);
  EXPECT_EQ(count("haares", {{"static_mixing", "on"}}), 763 + 96);
}

TEST(SumOfSources, EqualsTheTable) {
  const auto sum = [](const char* method, int64_t depth, int64_t length) {
    return SumOfSources(
        Cell(method, depth, 256, {{"block_sublayers", length}}));
  };
  EXPECT_EQ(SumOfSources(Cell("prenorm", 12)), 0);
  EXPECT_EQ(SumOfSources(Cell("block_layerscale", 12)), 0);
  EXPECT_EQ(sum("block_attnres", 12, 4), 109);
  EXPECT_EQ(sum("block_attnres", 24, 8), 217);
  EXPECT_EQ(sum("block_attnres", 48, 16), 433);
  EXPECT_EQ(sum("block_attnres", 12, 3), 133);
  EXPECT_EQ(sum("block_attnres", 24, 6), 265);
  EXPECT_EQ(sum("block_attnres", 48, 12), 529);
  EXPECT_EQ(sum("block_attnres", 12, 1), 325) << "S = 1 is attnres";
  EXPECT_EQ(sum("block_attnres", 48, 1), 4753);
  EXPECT_EQ(sum("wav", 12, 4), 265);
  EXPECT_EQ(sum("wav", 24, 8), 541);
  EXPECT_EQ(sum("wav", 48, 16), 1093);
  EXPECT_EQ(sum("wav", 24, 6), 681);
  EXPECT_EQ(sum("wav", 48, 12), 1377);
  EXPECT_EQ(SumOfSources(Cell("wav", 12, 256, {{"details", "off"}})), 109);
  for (const char* haares :
       {"haares", "haares_dup", "haares_random", "haares_fixedbias"}) {
    EXPECT_EQ(sum(haares, 12, 4), 187) << haares;
    EXPECT_EQ(sum(haares, 24, 8), 379) << haares;
    EXPECT_EQ(sum(haares, 48, 16), 763) << haares;
    EXPECT_EQ(sum(haares, 12, 3), 233) << haares;
    EXPECT_EQ(sum(haares, 48, 12), 953) << haares;
  }
  EXPECT_EQ(SumOfSources(Cell("delta_attnres", 12)), 299);
  EXPECT_EQ(SumOfSources(Cell("delta_attnres", 24)), 1175);
  EXPECT_EQ(SumOfSources(Cell("delta_attnres", 48)), 4655);
  EXPECT_EQ(sum("delta_block", 12, 4), 101);
  EXPECT_EQ(sum("delta_block", 24, 8), 209);
  EXPECT_EQ(sum("delta_block", 48, 16), 425);
  EXPECT_EQ(sum("delta_block_nopartial", 12, 4), 83);
  EXPECT_EQ(sum("delta_block_nopartial", 24, 8), 167);
  EXPECT_EQ(sum("delta_block_nopartial", 48, 16), 335);
  // e; in layer i from its second sublayer on, one more a layer.
  EXPECT_EQ(sum("delta_block_repo", 3, 2), 1 + 1 + 2 + 2 + 3);
}

TEST(SumOfSources, OfFullRoutersEqualsTheTable) {
  for (const char* method : {"attnres", "mhar"}) {
    EXPECT_EQ(SumOfSources(Cell(method, 12)), 325);
    EXPECT_EQ(SumOfSources(Cell(method, 24)), 1225);
    EXPECT_EQ(SumOfSources(Cell(method, 48)), 4753);
  }
  EXPECT_EQ(SumOfSources(Cell("mhar", 12, 256, {{"base", "block"}})), 109);
}

TEST(SumOfSources, AWindowEndsItsGrowth) {
  const auto sum = [](const char* method, GivenSettings more) {
    return SumOfSources(Cell(method, 12, 256, std::move(more)));
  };
  // 25 routers see e, and l updates while those are fewer than three.
  EXPECT_EQ(sum("attnres", {{"window", int64_t{3}}}), 25 + 1 + 2 + 22 * 3);
  EXPECT_EQ(sum("attnres", {{"window", int64_t{24}}}), 325);
  EXPECT_EQ(sum("attnres", {{"window", int64_t{23}}}), 324);
  // 6 blocks of 4: the finished one and the running one.
  EXPECT_EQ(sum("block_attnres", {{"window", int64_t{1}}}), 25 + 3 + 5 * 7 + 1);
  EXPECT_EQ(sum("block_attnres", {{"window", int64_t{6}}}), 109);
}

TEST(CountMethodParameters, OfStaticMixingIsOneNumberASource) {
  const GivenSettings on = {{"static_mixing", "on"}};
  EXPECT_EQ(CountMethodParameters(Cell("attnres", 12, 256, on)), 325);
  EXPECT_EQ(CountMethodParameters(Cell("block_attnres", 12, 256, on)), 109);
  EXPECT_EQ(CountMethodParameters(Cell("wav", 12, 256, on)), 265 + 48);
}

TEST(CountTrainingFlops, OfStaticMixingHaveNoProductsWithKeys) {
  const double tokens = 5000.0 * 64 * 256;
  const double with = CountTrainingFlops(Cell("attnres", 12), {});
  const double without = CountTrainingFlops(
      Cell("attnres", 12, 256, {{"static_mixing", "on"}}), {});
  EXPECT_DOUBLE_EQ(with - without, 3 * tokens * 2 * 325 * 256);
}

TEST(CountTrainingFlops, IsThreeForwardPassesOfEveryToken) {
  const double tokens = 5000.0 * 64 * 256;
  const double forward = 32.0 * 12 * 256 * 256 + 2.0 * 12 * 256 * 256;
  EXPECT_DOUBLE_EQ(CountTrainingFlops(Cell("prenorm", 12), {}),
                   3 * tokens * forward);
  EXPECT_DOUBLE_EQ(CountTrainingFlops(Cell("prenorm", 12), 27),
                   3 * tokens * (forward + 2 * 256 * 27));
  EXPECT_DOUBLE_EQ(CountTrainingFlops(Cell("block_attnres", 12), {}),
                   3 * tokens * (forward + 4 * 109 * 256 + 2 * 25 * 256));
}

TEST(CountTrainingFlops, RoutingSharesEqualTheTable) {
  const auto share = [](const char* method, int64_t depth) {
    const Settings cell = Cell(method, depth);
    return 100.0 * 4 * static_cast<double>(SumOfSources(cell)) * 256 /
           (34.0 * static_cast<double>(depth) * 256 * 256);
  };
  EXPECT_NEAR(share("block_attnres", 12), 0.42, 0.005);
  EXPECT_NEAR(share("block_attnres", 48), 0.42, 0.01);
  EXPECT_NEAR(share("wav", 12), 1.01, 0.05);
  EXPECT_NEAR(share("attnres", 12), 1.24, 0.06);
  EXPECT_NEAR(share("attnres", 48), 4.55, 0.06);
}

TEST(CountParameters, HoldsForTheLargestModelInRange) {
  const Resolution cell = Resolve({{"method", "wav"},
                                   {"depth", int64_t{256}},
                                   {"d_model", int64_t{16384}},
                                   {"d_ff", int64_t{131072}}});
  ASSERT_EQ(cell.errors.size(), 1u);
  EXPECT_EQ(cell.errors[0].key, "d_model") << "more than 1e12 parameters";
}

}  // namespace
}  // namespace leadline::spec
