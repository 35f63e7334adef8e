#include "tests/support/measured_attempt.h"

#include <optional>
#include <vector>

#include "model/decoder.h"
#include "model/spec/evaluation_batch.h"
#include "tests/support/counting_allocator.h"
#include "tests/support/twin_communicator.h"
#include "worker/collective/communicator.h"
#include "worker/trainer/adam_w.h"
#include "worker/trainer/batches.h"
#include "worker/trainer/evaluation.h"
#include "worker/trainer/gradient.h"
#include "worker/trainer/replica_health.h"
#include "worker/trainer/routing_report.h"

namespace leadline::testing {
namespace {

using trainer::Batches;

std::vector<uint16_t> AnyText(int64_t size, int64_t vocabulary) {
  std::vector<uint16_t> symbols(size);
  for (int64_t i = 0; i < size; ++i) {
    symbols[i] = static_cast<uint16_t>(i * i % vocabulary);
  }
  return symbols;
}

torch::ScalarType TypeOf(const spec::Settings& settings) {
  return settings.Word("precision") == "fp64" ? torch::kFloat64
                                              : torch::kFloat32;
}

std::unique_ptr<collective::Communicator> Ranks(int64_t size) {
  return size == 1 ? collective::MakeSoloCommunicator()
                   : MakeTwinCommunicator(size);
}

class Attempt {
 public:
  Attempt(const spec::Settings& settings, std::vector<int64_t> seeds,
          int64_t vocabulary)
      : settings_(settings),
        context_(settings.Integer("context")),
        text_(AnyText(40 * context_, vocabulary)),
        decoder_(settings, vocabulary, seeds, TypeOf(settings)),
        batches_(text_, seeds, context_),
        communicator_(Ranks(settings.Integer("devices"))),
        gradient_(decoder_, settings, batches_, *communicator_, torch::kCPU),
        optimizer_(decoder_.parameters_in_order(), settings),
        health_(seeds, std::nullopt, torch::kCPU) {}

  void Step() {
    const torch::Tensor loss_R = gradient_.Compute(0);
    const torch::Tensor norm_R = optimizer_.GradientNorms_R();
    health_.Judge(loss_R, norm_R, 1);
    optimizer_.Step(optimizer_.ClipFactors_R(norm_R), health_.alive_R(), 1e-3,
                    0);
  }

  void Evaluate() {
    const auto windows =
        trainer::FixedWindows(static_cast<int64_t>(text_.size()), context_,
                              settings_.Integer("eval_windows"));
    trainer::EvaluateFixed(decoder_, text_, windows, torch::kCPU, [] {});
    if (!settings_.IsOn("diagnostics")) return;
    const auto probed = std::span(windows).first(
        std::min<size_t>(spec::kProbeWindows, windows.size()));
    trainer::MeasureFigures(decoder_, settings_, text_, probed, torch::kCPU);
  }

 private:
  const spec::Settings& settings_;
  int64_t context_;
  std::vector<uint16_t> text_;
  model::Decoder decoder_;
  Batches batches_;
  std::unique_ptr<collective::Communicator> communicator_;
  trainer::Gradient gradient_;
  trainer::AdamW optimizer_;
  trainer::ReplicaHealth health_;
};

}  // namespace

int64_t MeasurePeakBytes(const spec::Settings& settings, int64_t replicas,
                         int64_t vocabulary) {
  at::set_num_threads(1);  // as a CPU trainer; each has buffers of its own
  std::vector<int64_t> seeds;
  for (int64_t r = 0; r < replicas; ++r) seeds.push_back(r + 1);
  const TensorBytes bytes;
  Attempt attempt(settings, seeds, vocabulary);
  attempt.Step();
  attempt.Evaluate();
  return bytes.Peak();
}

}  // namespace leadline::testing
