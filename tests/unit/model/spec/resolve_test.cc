#include <cmath>
#include <stdexcept>

#include <gmock/gmock.h>

#include "model/spec/method_table.h"
#include "model/spec/settings.h"

namespace leadline::spec {
namespace {

using testing::HasSubstr;

Settings Resolved(GivenSettings given) {
  given.try_emplace("method", "prenorm");
  const Resolution cell = Resolve(given);
  for (const SettingError& error : cell.errors) {
    ADD_FAILURE() << error.key << ": " << error.message;
  }
  return cell.settings;
}

std::string FirstError(GivenSettings given) {
  given.try_emplace("method", "prenorm");
  const Resolution cell = Resolve(given);
  return cell.errors.empty()
             ? "none"
             : cell.errors[0].key + ": " + cell.errors[0].message;
}

Value Int(int64_t value) { return value; }

TEST(Resolve, FillsDefaultsThatDependOnOthers) {
  const Settings cell = Resolved({{"d_model", Int(512)}, {"context", Int(64)}});
  EXPECT_EQ(cell.Integer("n_heads"), 8);
  EXPECT_EQ(cell.Integer("n_kv_heads"), 8);
  EXPECT_EQ(cell.Integer("d_ff"), 2048);
  EXPECT_EQ(cell.Integer("eval_stride"), 64);
  EXPECT_EQ(Resolved({{"d_model", Int(32)}}).Integer("n_heads"), 1);
}

TEST(Resolve, LearningRateFallsWithDepth) {
  const auto lr = [](int64_t depth) {
    return Resolved({{"depth", Int(depth)}}).Number("lr");
  };
  EXPECT_EQ(lr(1), 1e-3);
  EXPECT_EQ(lr(12), 1e-3);
  EXPECT_EQ(lr(24), 8e-4);
  EXPECT_EQ(lr(48), 6e-4);
  EXPECT_EQ(lr(96), 4e-4);
  EXPECT_EQ(lr(256), 4e-4);
  EXPECT_EQ(ToText(lr(32)), "0.000716992500144");
  EXPECT_EQ(Resolved({{"depth", Int(24)}}).Number("lr_min"), 8e-5);
  EXPECT_EQ(Resolved({{"lr", 2e-3}}).Number("lr_min"), 2e-4);
}

TEST(Resolve, BlocksBecomeTheirLengthInSublayers) {
  const auto length = [](int64_t depth, GivenSettings more = {}) {
    more.insert({{"method", "block_attnres"}, {"depth", Int(depth)}});
    return Resolved(more).Integer("block_sublayers");
  };
  EXPECT_EQ(length(12), 4);
  EXPECT_EQ(length(24), 8);
  EXPECT_EQ(length(48), 16);
  EXPECT_EQ(length(4), 4);
  EXPECT_EQ(length(1), 2);
  EXPECT_EQ(length(12, {{"blocks", Int(6)}}), 4);
  EXPECT_EQ(length(12, {{"blocks", Int(8)}}), 4) << "6 and 8 are one cell";
  EXPECT_EQ(length(12, {{"block_sublayers", Int(3)}}), 3);
  EXPECT_FALSE(Resolved({{"method", "wav"}, {"blocks", Int(4)}}).Has("blocks"));
}

TEST(Resolve, DropsOptionsOfOtherMethods) {
  EXPECT_EQ(Resolved({{"rho", 2.0}, {"init", 1.0}}), Resolved({}));
  EXPECT_FALSE(Resolved({{"rho", 2.0}}).Has("rho"));
}

TEST(Resolve, IsIdempotent) {
  for (const MethodInfo& method : MethodTable()) {
    for (const int64_t depth : {2, 12, 48}) {
      const Settings once = Resolved(
          {{"method", std::string(method.name)}, {"depth", Int(depth)}});
      EXPECT_EQ(Resolved(once.values()), once) << method.name;
    }
  }
}

TEST(Resolve, RefusesWhatCannotStandTogether) {
  EXPECT_THAT(FirstError({{"d_model", Int(100)}, {"n_heads", Int(3)}}),
              HasSubstr("n_heads 3 does not divide d_model 100"));
  EXPECT_THAT(FirstError({{"d_model", Int(6)}, {"n_heads", Int(2)}}),
              HasSubstr("is not even"));
  EXPECT_THAT(FirstError({{"n_heads", Int(4)}, {"n_kv_heads", Int(3)}}),
              HasSubstr("n_kv_heads 3 does not divide n_heads 4"));
  EXPECT_THAT(FirstError({{"lr", 1e-3}, {"lr_min", 2e-3}}),
              HasSubstr("is above lr"));
  EXPECT_THAT(FirstError({{"context", Int(64)}, {"eval_stride", Int(65)}}),
              HasSubstr("eval_stride 65 is above context 64"));
  EXPECT_THAT(
      FirstError({{"batch_sequences", Int(8)}, {"micro_batch", Int(3)}}),
      HasSubstr("micro_batch 3 does not divide"));
  EXPECT_THAT(FirstError({{"batch_sequences", Int(8)}, {"devices", Int(3)}}),
              HasSubstr("devices 3 does not divide"));
  EXPECT_THAT(FirstError({{"batch_sequences", Int(8)},
                          {"micro_batch", Int(8)},
                          {"devices", Int(2)}}),
              HasSubstr("micro_batch 8 does not divide the 4 sequences"));
  EXPECT_THAT(
      FirstError({{"batch_sequences", Int(65536)}, {"context", Int(65536)}}),
      HasSubstr("2^26"));
}

TEST(Resolve, DeepNormHasItsOwnScaling) {
  EXPECT_EQ(Resolved({{"method", "deepnorm"}}).Word("residual_init"), "plain");
  EXPECT_EQ(Resolved({{"method", "mhc"}}).Word("residual_init"), "scaled");
  EXPECT_THAT(FirstError({{"method", "deepnorm"}, {"residual_init", "scaled"}}),
              HasSubstr("residual_init is plain, not scaled"));
}

TEST(Resolve, ChecksStreams) {
  EXPECT_THAT(FirstError({{"method", "mhc"},
                          {"residual", "permutations"},
                          {"streams", Int(5)}}),
              HasSubstr("streams 5 have too many permutations"));
  EXPECT_EQ(FirstError({{"method", "mhc"},
                        {"residual", "permutations"},
                        {"streams", Int(4)}}),
            "none");
  EXPECT_EQ(FirstError({{"method", "mhc"}, {"streams", Int(8)}}), "none");
  EXPECT_THAT(
      FirstError({{"method", "hyper_connections"}, {"streams", Int(9)}}),
      HasSubstr("expected an integer from 2 to 8"));
}

TEST(Resolve, ChecksBlocks) {
  EXPECT_THAT(FirstError({{"method", "wav"}, {"block_sublayers", Int(5)}}),
              HasSubstr("even block_sublayers of at least 4"));
  EXPECT_THAT(FirstError({{"method", "wav"}, {"block_sublayers", Int(2)}}),
              HasSubstr("it is 2"));
  EXPECT_THAT(FirstError({{"method", "wav"}, {"depth", Int(1)}}),
              HasSubstr("(depth 1) it is 2"));
  EXPECT_THAT(FirstError({{"method", "haares"}, {"block_sublayers", Int(1)}}),
              HasSubstr("haares needs a block_sublayers of at least 2"));
  EXPECT_THAT(
      FirstError({{"method", "delta_block_repo"}, {"block_sublayers", Int(3)}}),
      HasSubstr("whole layers, not of 3 sublayers"));
  EXPECT_EQ(FirstError({{"method", "haares"}, {"block_sublayers", Int(3)}}),
            "none");
  EXPECT_THAT(FirstError({{"method", "haares"}, {"detail_bias_mode", "fixed"}}),
              HasSubstr("is the method haares_fixedbias"));
  EXPECT_THAT(FirstError({{"method", "block_attnres"},
                          {"depth", Int(2)},
                          {"block_sublayers", Int(5)}}),
              HasSubstr("more than the 4 sublayers of depth 2"));
  EXPECT_THAT(
      FirstError(
          {{"method", "wav"}, {"blocks", Int(4)}, {"block_sublayers", Int(4)}}),
      HasSubstr("both given"));
  EXPECT_EQ(FirstError({{"blocks", Int(4)}, {"block_sublayers", Int(4)}}),
            "none")
      << "options of another method";
}

TEST(Resolve, RouterHeadsAreAPowerOfTwoThatDividesTheWidth) {
  const auto error = [](int64_t heads, int64_t width) {
    return FirstError({{"method", "mhar"},
                       {"router_heads", Int(heads)},
                       {"d_model", Int(width)},
                       {"n_heads", Int(1)}});
  };
  EXPECT_THAT(error(3, 48), HasSubstr("router_heads 3 is none of 1, 2, 4, 8"));
  EXPECT_THAT(error(12, 48), HasSubstr("none of"));
  EXPECT_THAT(error(8, 12),
              HasSubstr("router_heads 8 does not divide d_model"));
  EXPECT_THAT(error(17, 34), HasSubstr("expected an integer from 1 to 16"));
  EXPECT_THAT(error(0, 34), HasSubstr("expected an integer from 1 to 16"));
  for (const int64_t heads : {1, 2, 4, 8, 16}) {
    EXPECT_EQ(error(heads, 16), "none");
  }
}

TEST(Resolve, BlocksOfMharBelongToItsBlockBase) {
  const auto cell = [](const char* base) {
    return Resolved({{"method", "mhar"},
                     {"base", base},
                     {"depth", Int(12)},
                     {"block_sublayers", Int(3)}});
  };
  EXPECT_EQ(cell("block").Integer("block_sublayers"), 3);
  EXPECT_FALSE(cell("full").Has("block_sublayers"));
  EXPECT_EQ(
      cell("full"),
      Resolved({{"method", "mhar"}, {"depth", Int(12)}, {"blocks", Int(2)}}));
  EXPECT_THAT(FirstError({{"method", "mhar"},
                          {"base", "block"},
                          {"depth", Int(2)},
                          {"block_sublayers", Int(5)}}),
              HasSubstr("more than the 4 sublayers"));
}

TEST(Resolve, CompensatedEpsNeedsAKnownScale) {
  const auto error = [](GivenSettings given) {
    given.try_emplace("method", "attnres");
    given.try_emplace("eps_mode", "compensated");
    return FirstError(given);
  };
  EXPECT_EQ(error({}), "none");
  EXPECT_EQ(error({{"window", "off"}, {"sources", "updates"}}), "none");
  EXPECT_EQ(error({{"sources", "states"}}),
            "eps_mode: compensated does not go with sources states");
  EXPECT_EQ(error({{"window", Int(4)}}),
            "eps_mode: compensated does not go with window 4");
  for (const char* method : {"attnres", "block_attnres", "mhar", "wav"}) {
    EXPECT_EQ(error({{"method", method}, {"static_mixing", "on"}}),
              "eps_mode: compensated does not go with static_mixing on");
  }
}

TEST(Resolve, RefusesACompensatedEpsBesideAGate) {
  EXPECT_THAT(FirstError({{"method", "delta_block"},
                          {"gate", "scalar"},
                          {"eps_mode", "compensated"}}),
              HasSubstr("does not go with gate"));
  EXPECT_EQ(
      FirstError({{"method", "delta_block"}, {"eps_mode", "compensated"}}),
      "none");
  EXPECT_EQ(FirstError({{"gate", "scalar"}, {"eps_mode", "compensated"}}),
            "none")
      << "an option of another method";
}

TEST(Resolve, RefusesUnknownKeysWrongTypesAndValuesOutOfRange) {
  EXPECT_THAT(FirstError({{"dpeth", Int(4)}}), "dpeth: is not a setting");
  EXPECT_THAT(FirstError({{"steps", 300.0}}), HasSubstr("expected an integer"));
  EXPECT_THAT(FirstError({{"lr", Int(1)}}), HasSubstr("expected a number"));
  EXPECT_THAT(FirstError({{"steps", int64_t{1'000'000'000'000'000'000}}}),
              HasSubstr("expected an integer from 1 to"));
  EXPECT_THAT(FirstError({{"lr", std::nan("")}}), HasSubstr("nan"));
  EXPECT_THAT(FirstError({{"method", "magic"}}), HasSubstr("no method magic"));
  EXPECT_EQ(Resolve({}).errors[0].message, "is missing");
  EXPECT_EQ(Resolve({{"method", Int(3)}}).errors[0].key, "method");
}

TEST(Resolve, ReportsAllErrorsAtOnce) {
  EXPECT_EQ(
      Resolve(
          {{"method", "wav"}, {"steps", Int(0)}, {"lr", -1.0}, {"rho", 0.5}})
          .errors.size(),
      3u);
}

TEST(Settings, NamesTheKeyThatIsNotThere) {
  const Settings cell = Resolved({});
  EXPECT_THROW(cell.Number("rho"), std::logic_error);
  EXPECT_THROW(cell.Integer("lr"), std::logic_error);
  EXPECT_EQ(cell.NumberUnlessWord("divergence_loss"), std::nullopt);
  EXPECT_EQ(cell.NumberUnlessWord("clip"), 1.0);
  EXPECT_TRUE(cell.IsOn("tied_head"));
}

}  // namespace
}  // namespace leadline::spec
