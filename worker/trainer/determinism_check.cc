#include "worker/trainer/determinism_check.h"

#include <algorithm>
#include <limits>
#include <ranges>
#include <utility>
#include <vector>

#include "worker/trainer/json_line.h"
#include "worker/trainer/tensor_hash.h"

namespace leadline::trainer {
namespace {

using torch::Tensor;

/// Names and hashes, in the order in which they were computed.
using Trace = std::vector<std::pair<std::string, int64_t>>;

Trace TraceOf(const model::Decoder& decoder, const ComputedStep& computed) {
  Trace trace = {{"tokens", HashOf(computed.tokens_RBT)},
                 {"loss", HashOf(computed.loss_R)}};
  for (const model::NamedParameter& parameter :
       std::views::reverse(decoder.parameters_in_order())) {
    const Tensor& gradient = parameter.tensor.grad();
    trace.emplace_back("gradient of " + parameter.name,
                       gradient.defined() ? HashOf(gradient) : 0);
  }
  return trace;
}

std::vector<Tensor> Gradients(const model::Decoder& decoder) {
  std::vector<Tensor> gradients;
  for (const model::NamedParameter& parameter : decoder.parameters_in_order()) {
    const Tensor& gradient = parameter.tensor.grad();
    // A copy: the next computation may write where this one lies.
    gradients.push_back(gradient.defined()
                            ? gradient.to(torch::kCPU, torch::kFloat64,
                                          /*non_blocking=*/false, /*copy=*/true)
                            : Tensor());
  }
  return gradients;
}

double LargestDifference(const std::vector<Tensor>& left,
                         const std::vector<Tensor>& right) {
  double largest = 0;
  for (size_t i = 0; i < left.size(); ++i) {
    if (!left[i].defined() || !right[i].defined()) {
      if (left[i].defined() == right[i].defined()) continue;
      return std::numeric_limits<double>::infinity();
    }
    if (left[i].equal(right[i])) continue;
    const double difference =
        ((left[i] - right[i]).norm() / right[i].norm()).item<double>();
    // Not a number is no small difference.
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

}  // namespace

double RepeatTolerance(const std::string& precision) {
  if (precision == "fp64") return 1e-12;
  return precision == "bf16" ? 1e-2 : 1e-4;
}

DeterminismReport CheckDeterminism(const model::Decoder& decoder,
                                   const std::function<ComputedStep()>& compute,
                                   double tolerance) {
  const Trace once = TraceOf(decoder, compute());
  const Trace again = TraceOf(decoder, compute());
  const auto [first, other] = std::ranges::mismatch(once, again);
  if (first == once.end()) return {.determinism = Determinism::kBitExact};
  const std::vector<Tensor> gradients = Gradients(decoder);
  compute();
  const double largest = LargestDifference(gradients, Gradients(decoder));
  // Other data are another step, however near the gradients lie.
  const bool is_near = first->first != "tokens" && largest <= tolerance;
  return {.determinism =
              is_near ? Determinism::kWithinTolerance : Determinism::kDiffers,
          .first = first->first,
          .largest = largest};
}

std::string Explain(const DeterminismReport& report, int64_t step) {
  return "step " + std::to_string(step) +
         " gives other bits when it is computed again; the first to differ: " +
         report.first + "; gradients differ by " + JsonNumber(report.largest) +
         " of their norm at most (" + std::string(Name(report.determinism)) +
         ")";
}

}  // namespace leadline::trainer
