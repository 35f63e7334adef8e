// Sums whose sign is each replica's own, against plain operations under
// automatic differentiation.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "model/router/source.h"

namespace leadline::model {
namespace {

using torch::Tensor;

constexpr double kEps = 1e-6;

/// float and double take the loops, half tensor operations as other devices do.
class ReplicaSigns : public testing::TestWithParam<torch::ScalarType> {
 protected:
  Tensor Draw(int64_t seed) const {
    torch::manual_seed(seed);
    return torch::randn({4, 2, 3, 8}).to(GetParam()).requires_grad_();
  }
  /// Columns of a matrix, so not contiguous.
  Tensor Sign(int64_t column) const {
    return torch::tensor({{1.0, -1.0}, {-1.0, -1.0}, {0.0, 1.0}, {1.0, 0.0}})
        .to(GetParam())
        .select(1, column);
  }
  static Tensor Wide(const Tensor& sign_R) {
    return sign_R.reshape({-1, 1, 1, 1});
  }
};

TEST_P(ReplicaSigns, SumsAndGradientsAreThoseOfTheDefinition) {
  const Tensor first = Draw(1);
  const Tensor second = Draw(2);
  auto sums = AddUpdate({}, first, {{1, "P"}, {1, "Psig", Sign(0)}}, kEps);
  sums = AddUpdate(sums, second, {{1, "P"}, {1, "Psig", Sign(1)}}, kEps);
  const Tensor plain = first + second;
  const Tensor signed_sum = first * Wide(Sign(0)) + second * Wide(Sign(1));
  EXPECT_TRUE(torch::equal(sums[0].value_RBTD, plain));
  EXPECT_TRUE(torch::equal(sums[1].value_RBTD, signed_sum));
  EXPECT_TRUE(torch::allclose(
      sums[1].inverse_rms_RBT,
      (signed_sum.detach().square().mean(-1) + kEps).rsqrt(), 1e-2));

  const Tensor c = Draw(3).detach();
  const Tensor d = Draw(4).detach();
  const auto want = torch::autograd::grad({(plain * c + signed_sum * d).sum()},
                                          {first, second});
  const auto got = torch::autograd::grad(
      {(sums[0].value_RBTD * c + sums[1].value_RBTD * d).sum()},
      {first, second});
  const double close = GetParam() == torch::kHalf ? 1e-2 : 1e-6;
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_TRUE(torch::allclose(got[i], want[i], close, close));
  }
}

TEST_P(ReplicaSigns, NeverShareATensorWithAnotherSum) {
  const Tensor u = Draw(1);
  const Tensor ones = torch::ones({4}, GetParam());
  const auto sums =
      AddUpdate({}, u, {{1, "P"}, {1, "Psig", ones}, {1, "Q", ones}}, kEps);
  EXPECT_EQ(sums[0].value_RBTD.data_ptr(), u.data_ptr());
  EXPECT_NE(sums[1].value_RBTD.data_ptr(), u.data_ptr());
  EXPECT_NE(sums[2].value_RBTD.data_ptr(), sums[1].value_RBTD.data_ptr());
}

INSTANTIATE_TEST_SUITE_P(Types, ReplicaSigns,
                         testing::Values(torch::kFloat32, torch::kFloat64,
                                         torch::kHalf),
                         [](const auto& info) {
                           return std::string(torch::toString(info.param));
                         });

}  // namespace
}  // namespace leadline::model
