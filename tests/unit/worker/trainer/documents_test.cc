// Windows that stay inside one story: where they begin, what is scored, and
// what a gradient is the mean over.

#include "worker/trainer/documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/decoder.h"
#include "model/losses.h"
#include "worker/trainer/evaluation.h"
#include "worker/trainer/gradient.h"

namespace leadline::trainer {
namespace {

using testing::ElementsAre;
using torch::Tensor;

std::vector<uint16_t> Symbols(int64_t size) {
  std::vector<uint16_t> symbols(size);
  for (int64_t i = 0; i < size; ++i) {
    symbols[i] = static_cast<uint16_t>(i * i % 7);
  }
  return symbols;
}

// Every start by the definition: some symbol follows in the same story.
std::vector<int64_t> StartsOf(const std::vector<int64_t>& ends,
                              int64_t context) {
  std::vector<int64_t> starts;
  for (int64_t at = 0; at < ends.back() - context; ++at) {
    if (std::find(ends.begin(), ends.end(), at + 1) == ends.end()) {
      starts.push_back(at);
    }
  }
  return starts;
}

TEST(DocumentsTest, StartsAreAllSymbolsWithASuccessorInTheirStory) {
  const std::vector<std::vector<int64_t>> texts = {
      {20}, {3, 20}, {1, 2, 3, 20}, {19, 20}, {5, 6, 7, 12, 13, 20}, {2, 4, 6}};
  for (const auto& ends : texts) {
    const Documents documents(ends);
    for (const int64_t context : {1, 2, 5}) {
      const std::vector<int64_t> wanted = StartsOf(ends, context);
      ASSERT_EQ(documents.CountStarts(context),
                static_cast<int64_t>(wanted.size()));
      for (size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_EQ(documents.Start(static_cast<int64_t>(i)), wanted[i]);
        const int64_t scored = documents.Scored(wanted[i], context);
        EXPECT_GE(scored, 1);
        EXPECT_LE(scored, context);
        EXPECT_EQ(documents.EndOf(wanted[i]),
                  documents.EndOf(wanted[i] + scored));
      }
    }
  }
}

TEST(DocumentsTest, OneStoryIsTheWholeTextAsEver) {
  const std::vector<uint16_t> symbols = Symbols(200);
  const Documents documents({200});
  const Batches plain(symbols, {3, 4}, 8);
  const Batches inside(symbols, {3, 4}, 8, &documents);
  EXPECT_EQ(plain.Starts(5, 0, 7), inside.Starts(5, 0, 7));
  EXPECT_TRUE(inside.Read(5, 0, 7).scored_RBT.eq(1).all().item<bool>());
  EXPECT_FALSE(plain.Read(5, 0, 7).scored_RBT.defined());
  EXPECT_EQ(FullWindows(documents, 8, 3), FullWindows(200, 8, 3));
  EXPECT_EQ(FixedWindows(documents, 8, 9), FixedWindows(200, 8, 9));
}

TEST(DocumentsTest, MaskEndsWithTheStory) {
  const std::vector<uint16_t> symbols = Symbols(60);
  const Documents documents({7, 20, 33, 60});
  const Batches batches(symbols, {3, 4}, 8, &documents);
  const Batch batch = batches.Read(2, 0, 50);
  const std::vector<int64_t> starts = batches.Starts(2, 0, 50);
  const std::vector<int64_t> counts = batches.CountScored(2, 0, 50);
  std::vector<int64_t> sums(2, 0);
  for (int64_t i = 0; i < 100; ++i) {
    for (int64_t t = 0; t < 8; ++t) {
      const bool inside = documents.EndOf(starts[i]) > starts[i] + t + 1;
      EXPECT_EQ(batch.scored_RBT[i / 50][i % 50][t].item<float>() == 1, inside);
      sums[i / 50] += inside ? 1 : 0;
    }
  }
  EXPECT_EQ(counts, sums);
}

TEST(DocumentsTest, EveryStoryIsEvaluatedForItself) {
  const std::vector<int64_t> ends = {1, 4, 30, 31, 47};
  for (const int64_t stride : {2, 8}) {
    std::vector<int> scored(47, 0);
    for (const Window& window : FullWindows(Documents(ends), 8, stride)) {
      EXPECT_GE(window.length, 1);
      EXPECT_EQ(Documents(ends).EndOf(window.start),
                Documents(ends).EndOf(window.start + window.length));
      for (int64_t t = window.first_scored; t < window.length; ++t) {
        ++scored[window.start + t + 1];
      }
    }
    for (int64_t i = 0; i < 47; ++i) {
      const bool is_first = i == 0 || i == 1 || i == 4 || i == 30 || i == 31;
      EXPECT_EQ(scored[i], is_first ? 0 : 1) << i;
    }
  }
}

spec::Settings Small(int64_t batch, int64_t micro) {
  return spec::Resolve({{"depth", int64_t{2}},
                        {"method", "prenorm"},
                        {"d_model", int64_t{8}},
                        {"n_heads", int64_t{2}},
                        {"context", int64_t{6}},
                        {"precision", "fp64"},
                        {"batch_sequences", batch},
                        {"micro_batch", micro}})
      .settings;
}

class MaskedGradient : public testing::Test {
 protected:
  static constexpr int64_t kContext = 6;
  const std::vector<uint16_t> symbols_ = Symbols(60);
  const Documents documents_{{7, 9, 20, 33, 60}};
  const std::vector<int64_t> seeds_ = {0, 1, 2};

  // Losses and all gradients, one after the other.
  std::pair<Tensor, Tensor> Compute(const std::vector<int64_t>& seeds,
                                    int64_t micro,
                                    const Documents* documents) const {
    const spec::Settings settings = Small(4, micro);
    const model::Decoder decoder(settings, 7, seeds,
                                 torch::dtype(torch::kFloat64));
    const Batches batches(symbols_, seeds, kContext, documents);
    const auto communicator = collective::MakeSoloCommunicator();
    Gradient gradient(decoder, settings, batches, *communicator, torch::kCPU);
    const Tensor loss_R = gradient.Compute(3);
    std::vector<Tensor> all;
    for (const auto& parameter : decoder.parameters_in_order()) {
      const Tensor& grad = parameter.tensor.grad();
      all.push_back(grad.reshape({grad.size(0), -1}));
    }
    return {loss_R, torch::cat(all, 1)};
  }
};

TEST_F(MaskedGradient, IsThatOfTheMeanOverScoredPositionsOfAReplica) {
  const auto [loss_R, gradient_RN] = Compute(seeds_, 4, &documents_);
  const model::Decoder decoder(Small(4, 4), 7, seeds_,
                               torch::dtype(torch::kFloat64));
  const Batches batches(symbols_, seeds_, kContext, &documents_);
  const Batch batch = batches.Read(3, 0, 4);
  const Tensor losses_RBT =
      model::TokenLosses(decoder.Forward(batch.tokens_RBT), batch.targets_RBT);
  for (int64_t r = 0; r < 3; ++r) {
    const Tensor scored = losses_RBT[r].masked_select(batch.scored_RBT[r] == 1);
    EXPECT_LT(scored.numel(), 24);
    EXPECT_NEAR(loss_R[r].item<double>(), scored.mean().item<double>(), 1e-12);
  }
}

TEST_F(MaskedGradient, MicroBatchesChangeRoundingOnly) {
  const auto whole = Compute(seeds_, 4, &documents_);
  const auto parts = Compute(seeds_, 1, &documents_);
  EXPECT_TRUE(torch::allclose(whole.first, parts.first, 1e-12, 1e-12));
  EXPECT_TRUE(torch::allclose(whole.second, parts.second, 1e-10, 1e-12));
}

TEST_F(MaskedGradient, OfAReplicaIsWhatItIsAlone) {
  const auto together = Compute(seeds_, 4, &documents_);
  for (int64_t r = 0; r < 3; ++r) {
    const auto alone = Compute({seeds_[r]}, 4, &documents_);
    EXPECT_TRUE(torch::allclose(alone.first[0], together.first[r], 1e-12, 0));
    EXPECT_TRUE(
        torch::allclose(alone.second[0], together.second[r], 1e-9, 1e-12));
  }
}

TEST_F(MaskedGradient, DependsOnNothingBehindTheEndOfAStory) {
  const auto before = Compute(seeds_, 4, &documents_);
  // Each window once more, with everything behind its story's end replaced.
  const Batches batches(symbols_, seeds_, kContext, &documents_);
  const model::Decoder decoder(Small(4, 4), 7, seeds_,
                               torch::dtype(torch::kFloat64));
  Batch batch = batches.Read(3, 0, 4);
  const Tensor behind = batch.scored_RBT == 0;
  // The token at the last scored position is inside; those after it are not.
  const Tensor losses_RBT = model::TokenLosses(
      decoder.Forward(batch.tokens_RBT.masked_fill(behind, 5)),
      batch.targets_RBT.masked_fill(behind, 5));
  const Tensor loss_R = (losses_RBT * batch.scored_RBT).sum({1, 2}) /
                        batch.scored_RBT.sum({1, 2});
  EXPECT_TRUE(torch::allclose(before.first, loss_R, 1e-12, 1e-12));
}

TEST_F(MaskedGradient, WindowsOfManyLengthsKeepTheirOrder) {
  const model::Decoder decoder(Small(4, 4), 7, seeds_,
                               torch::dtype(torch::kFloat64));
  const std::vector<Window> windows = FixedWindows(documents_, kContext, 11);
  const Tensor all_RP =
      EvaluateFixed(decoder, symbols_, windows, torch::kCPU, [] {});
  ASSERT_EQ(all_RP.sizes(), (std::vector<int64_t>{3, 11}));
  for (size_t p = 0; p < windows.size(); ++p) {
    const Tensor one =
        EvaluateFixed(decoder, symbols_, {windows[p]}, torch::kCPU, [] {});
    EXPECT_TRUE(torch::allclose(one.select(1, 0),
                                all_RP.select(1, static_cast<int64_t>(p)),
                                1e-12, 1e-12));
  }
}

}  // namespace
}  // namespace leadline::trainer
