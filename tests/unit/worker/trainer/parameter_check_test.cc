// Ranks that do not train one model are found out.

#include "worker/trainer/parameter_check.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cell_settings.h"
#include "tests/unit/worker/trainer/rank_world.h"

namespace leadline::trainer {
namespace {

using collective::Communicator;
using leadline::testing::CellSettings;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

std::vector<std::string> CheckOn(
    int64_t ranks,
    const std::function<void(model::Decoder& decoder, int64_t rank)>& change) {
  return OnRanks(ranks, [&](Communicator& communicator) {
    const torch::NoGradGuard no_grad;
    model::Decoder decoder(CellSettings("block_attnres"), 11, {1, 2});
    change(decoder, communicator.rank());
    CheckSameParameters(decoder, communicator, 50);
    communicator.Barrier();
  });
}

TEST(CheckSameParameters, AcceptsEqualOnes) {
  EXPECT_THAT(CheckOn(3, [](model::Decoder&, int64_t) {}), Each(""));
}

TEST(CheckSameParameters, FindsTheLastBitOfAnyTensorOfAnyRank) {
  const model::Decoder model(CellSettings("block_attnres"), 11, {1, 2});
  const size_t count = model.parameters_in_order().size();
  for (size_t i = 0; i < count; i += 5) {
    const auto errors =
        CheckOn(3, [&](const model::Decoder& decoder, int64_t rank) {
          if (rank != 2) return;
          torch::Tensor values =
              decoder.parameters_in_order()[i].tensor.detach().view({-1});
          values[-1] = torch::nextafter(values[-1], values[-1] + 1);
        });
    const std::string& name = model.parameters_in_order()[i].name;
    EXPECT_THAT(errors,
                Each(AllOf(HasSubstr("after step 50"),
                           HasSubstr("rank 2 are not those of rank 0"),
                           HasSubstr(name + " is the first to differ"))));
  }
}

TEST(CheckSameParameters, TellsZerosOfEitherSignApart) {
  const auto errors =
      CheckOn(2, [](const model::Decoder& decoder, int64_t rank) {
        decoder.parameters_in_order()[0].tensor.detach().fill_(
            rank == 0 ? 0.0 : -0.0);
      });
  EXPECT_THAT(errors, Each(HasSubstr("is the first to differ")));
}

}  // namespace
}  // namespace leadline::trainer
