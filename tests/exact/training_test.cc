// R3, R4, R5, R7, and the number of tensor calls: replicas in training.

#include <cmath>
#include <memory>
#include <vector>

#include <ATen/record_function.h>

#include "tests/exact/training_world.h"
#include "tests/exact/world.h"

namespace leadline::exact {
namespace {

using torch::Tensor;

class TrainedReplicas : public testing::TestWithParam<std::string> {};

/// The seeds of one fused training against each of them alone.
void ExpectAgreement(const spec::Settings& settings,
                     const torch::TensorOptions& type, int64_t steps,
                     double early, double late) {
  const std::vector<int64_t> seeds = {4, 5, 6};
  const Tensor fused = Training(settings, seeds, type).Losses(steps);
  for (int64_t r = 0; r < 3; ++r) {
    const Tensor solo = Training(settings, {seeds[r]}, type).Losses(steps);
    const Tensor distance = (fused.select(1, r) - solo.select(1, 0)).abs();
    EXPECT_LE(distance.slice(0, 0, 10).max().item<double>(), early) << r;
    if (steps > 10) {
      EXPECT_LE(distance.slice(0, 10, steps).max().item<double>(), late) << r;
      EXPECT_LT(fused[steps - 1][r].item<double>(), fused[0][r].item<double>());
    }
  }
}

TEST_P(TrainedReplicas, R3InDoubleTheyTrainAmongOthersAsAlone) {
  ExpectAgreement(Trained(GetParam(), "fp64", {{"depth", int64_t{2}}}),
                  Doubles(), 100, 1e-11, 1e-9);
}

TEST_P(TrainedReplicas, R3InFloatTheyTrainAmongOthersAsAlone) {
  ExpectAgreement(Trained(GetParam(), "fp32"), Floats(), 100, 1e-5, 1e-3);
}

TEST_P(TrainedReplicas, R3DeepOnesTrainAmongOthersAsAlone) {
  ExpectAgreement(Trained(GetParam(), "fp64", {{"depth", int64_t{12}}}),
                  Doubles(), 8, 1e-11, 1e-9);
}

TEST_P(TrainedReplicas, R4PermutingSeedsPermutesEverything) {
  const spec::Settings settings = Trained(GetParam(), "fp32");
  Training straight(settings, {4, 5, 6}, Floats());
  Training permuted(settings, {6, 4, 5}, Floats());
  const Tensor a = straight.Losses(20);
  const Tensor b = permuted.Losses(20);
  const Tensor order = torch::tensor({2, 0, 1});
  EXPECT_TRUE(torch::equal(a.index_select(1, order), b));
  for (const model::NamedParameter& p :
       straight.decoder.parameters_in_order()) {
    EXPECT_TRUE(torch::equal(p.tensor.index_select(0, order),
                             Parameter(permuted.decoder, p.name)))
        << p.name;
  }
}

TEST_P(TrainedReplicas, R5ANanInOneReplicaEndsThatOneAlone) {
  const spec::Settings settings = Trained(GetParam(), "fp32");
  Training clean(settings, {4, 5, 6}, Floats());
  Training spoilt(settings, {4, 5, 6}, Floats());
  {
    const torch::NoGradGuard no_grad;
    Parameter(spoilt.decoder, "layers.1.attn.wv")[1][3][2] = NAN;
  }
  const Tensor expected = clean.Losses(20);
  const Tensor losses = spoilt.Losses(20);
  for (const int64_t r : {0, 2}) {
    EXPECT_TRUE(torch::equal(losses.select(1, r), expected.select(1, r))) << r;
    for (const model::NamedParameter& p : clean.decoder.parameters_in_order()) {
      EXPECT_TRUE(
          torch::equal(Parameter(spoilt.decoder, p.name)[r], p.tensor[r]))
          << p.name;
    }
  }
  const auto ends = spoilt.health.Read();
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].replica, 1);
  EXPECT_EQ(ends[0].step, 1);
  EXPECT_TRUE(spoilt.health.IsAlive(0));
  EXPECT_FALSE(spoilt.health.IsAlive(1));
  EXPECT_TRUE(spoilt.health.IsAlive(2));
}

/// The gain nearest to the head.
Tensor LastGain(const model::Decoder& decoder) {
  Tensor last;
  for (const model::NamedParameter& p : decoder.parameters_in_order()) {
    if (p.name == "final.norm.g") return p.tensor;
    if (p.name.ends_with(".norm.g")) last = p.tensor;
  }
  return last;
}

TEST_P(TrainedReplicas, R7AHugeGradientClipsItsOwnReplicaAlone) {
  const spec::Settings settings = Trained(GetParam(), "fp32");
  Training clean(settings, {4, 5, 6}, Floats());
  Training steep(settings, {4, 5, 6}, Floats());
  {
    const torch::NoGradGuard no_grad;
    LastGain(steep.decoder)[1].mul_(1000);
  }
  const StepResult expected = clean.Step();
  const StepResult result = steep.Step();
  EXPECT_GT(result.norm_R[1].item<double>(),
            100 * expected.norm_R[1].item<double>());
  EXPECT_LT(result.factor_R[1].item<double>(), 1);
  for (const int64_t r : {0, 2}) {
    EXPECT_TRUE(torch::equal(result.factor_R[r], expected.factor_R[r]));
  }
}

TEST_P(TrainedReplicas, R0MicroBatchesAddUpToTheBatchDropoutAndAll) {
  std::vector<StepResult> steps;
  for (const int64_t micro_batch : {4, 2, 1}) {
    spec::GivenSettings given = {{"batch_sequences", int64_t{4}},
                                 {"micro_batch", micro_batch},
                                 {"dropout", 0.2}};
    Training training(Small(GetParam(), 2, given), {4, 5}, Doubles());
    training.Step();
    steps.push_back(training.Step());
  }
  for (const StepResult& step : steps) {
    EXPECT_LE(LogitError(step.loss_R, steps[0].loss_R), 1e-9);
    EXPECT_LE(LogitError(step.norm_R, steps[0].norm_R), 1e-9);
  }
}

/// Counts tensor calls that no other tensor call made, while it lives.
class CallCounter {
 public:
  CallCounter() {
    handle_ =
        at::addThreadLocalCallback(at::RecordFunctionCallback(&Begin, &End)
                                       .scopes({at::RecordScope::FUNCTION}));
    calls = 0;
    depth = 0;
  }
  ~CallCounter() { at::removeCallback(handle_); }

  int64_t count() const { return calls; }

 private:
  static std::unique_ptr<at::ObserverContext> Begin(const at::RecordFunction&) {
    if (depth++ == 0) ++calls;
    return nullptr;
  }
  static void End(const at::RecordFunction&, at::ObserverContext*) { --depth; }

  static thread_local int64_t calls;
  static thread_local int64_t depth;
  at::CallbackHandle handle_;
};

thread_local int64_t CallCounter::calls = 0;
thread_local int64_t CallCounter::depth = 0;

TEST_P(TrainedReplicas, R0AStepMakesAsManyCallsForThreeAsForOne) {
  const spec::Settings settings = Trained(GetParam(), "fp32");
  std::vector<int64_t> counts;
  for (const std::vector<int64_t>& seeds :
       std::vector<std::vector<int64_t>>{{4}, {4, 5, 6}}) {
    Training training(settings, seeds, Floats());
    training.Step();
    const CallCounter counter;
    training.Step();
    counts.push_back(counter.count());
  }
  EXPECT_GT(counts[0], 50);
  EXPECT_EQ(counts[0], counts[1]);
}

INSTANTIATE_TEST_SUITE_P(Registry, TrainedReplicas,
                         testing::ValuesIn(AllMethods()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace leadline::exact
