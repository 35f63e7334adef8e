#include "worker/trainer/determinism_check.h"

#include <algorithm>
#include <cmath>
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

class Check {
 public:
  Check(const model::Decoder& decoder, const std::vector<int64_t>& alive,
        collective::Communicator& communicator,
        const std::function<ComputedStep()>& compute)
      : decoder_(decoder),
        alive_(torch::tensor(alive, torch::kInt64)),
        communicator_(communicator),
        compute_(compute) {}

  DeterminismReport Run(double tolerance) {
    const Trace once = Compute();
    const Trace again = Compute();
    const auto [first, other] = std::ranges::mismatch(once, again);
    DeterminismReport report{.determinism = Determinism::kBitExact};
    if (first != once.end()) report.first = first->first;
    // Sums are computed by all ranks or by none.
    if (Worst(report.first.empty() ? 0 : 1) == 0) return report;
    const std::vector<Tensor> gradients = Gradients();
    const Trace third = Compute();
    report.largest = LargestDifference(gradients, Gradients());
    if (!report.first.empty()) {
      // Where two agree, the one that does not is no rounding.
      const bool is_rounding = report.first != "tokens" && third != again &&
                               third != once && report.largest <= tolerance;
      report.determinism =
          is_rounding ? Determinism::kWithinTolerance : Determinism::kDiffers;
    }
    report.determinism = static_cast<Determinism>(
        Worst(static_cast<int64_t>(report.determinism)));
    return report;
  }

 private:
  /// Those that count, of a tensor of all replicas.
  Tensor Alive(const Tensor& values_R) const {
    return values_R.index_select(0, alive_.to(values_R.device()));
  }

  Trace Compute() {
    const ComputedStep computed = compute_();
    Trace trace = {{"tokens", HashOf(Alive(computed.tokens_RBT))},
                   {"loss", HashOf(Alive(computed.loss_R))}};
    for (const model::NamedParameter& parameter :
         std::views::reverse(decoder_.parameters_in_order())) {
      const Tensor& gradient = parameter.tensor.grad();
      trace.emplace_back("gradient of " + parameter.name,
                         gradient.defined() ? HashOf(Alive(gradient)) : 0);
    }
    return trace;
  }

  /// Of the replicas that count, [R, values].
  std::vector<Tensor> Gradients() const {
    std::vector<Tensor> gradients;
    for (const model::NamedParameter& p : decoder_.parameters_in_order()) {
      if (const Tensor& gradient = p.tensor.grad(); gradient.defined()) {
        gradients.push_back(
            Alive(gradient).to(torch::kCPU, torch::kFloat64).flatten(1));
      }
    }
    return gradients;
  }

  static double LargestDifference(const std::vector<Tensor>& left,
                                  const std::vector<Tensor>& right) {
    constexpr double kNoNumber = std::numeric_limits<double>::infinity();
    if (left.size() != right.size()) return kNoNumber;
    double largest = 0;
    for (size_t i = 0; i < left.size(); ++i) {
      if (left[i].equal(right[i])) continue;
      const Tensor differences_R = (left[i] - right[i]).norm(2, {1});
      const Tensor norms_R = right[i].norm(2, {1});
      for (int64_t r = 0; r < norms_R.numel(); ++r) {
        const auto difference = differences_R[r].item<double>();
        if (difference == 0) continue;
        const double relative = difference / norms_R[r].item<double>();
        if (std::isnan(relative)) return kNoNumber;
        largest = std::max(largest, relative);
      }
    }
    return largest;
  }

  /// The largest of the ranks' numbers.
  int64_t Worst(int64_t own) {
    Tensor of_ranks = torch::zeros({communicator_.size()}, torch::kInt64);
    of_ranks[communicator_.rank()] = own;
    communicator_.AllReduce(of_ranks);
    return of_ranks.max().item<int64_t>();
  }

  const model::Decoder& decoder_;
  Tensor alive_;
  collective::Communicator& communicator_;
  const std::function<ComputedStep()>& compute_;
};

}  // namespace

double RepeatTolerance(const std::string& precision) {
  if (precision == "fp64") return 1e-12;
  return precision == "bf16" ? 1e-2 : 1e-4;
}

DeterminismReport CheckDeterminism(const model::Decoder& decoder,
                                   const std::vector<int64_t>& alive,
                                   collective::Communicator& communicator,
                                   const std::function<ComputedStep()>& compute,
                                   double tolerance) {
  if (alive.empty()) return {};
  return Check(decoder, alive, communicator, compute).Run(tolerance);
}

std::string Explain(const DeterminismReport& report) {
  const std::string what =
      report.first.empty()
          ? "on another rank"
          : "the first to differ: " + report.first +
                "; gradients of the second and the third time differ by " +
                JsonNumber(report.largest) + " of their norm at most";
  return "a step gives other bits when it is computed again (" +
         std::string(Name(report.determinism)) + "): " + what;
}

}  // namespace leadline::trainer
