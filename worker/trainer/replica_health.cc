#include "worker/trainer/replica_health.h"

#include <algorithm>
#include <array>
#include <utility>

namespace leadline::trainer {

using torch::Tensor;

namespace {

enum Cause : int64_t { kNone, kLoss, kNorm, kLimit, kDropped };

// In the order of Cause.
constexpr std::array<const char*, 5> kWords = {"", "loss", "norm", "limit",
                                               "dropped"};

std::string Reason(int64_t cause) {
  switch (cause) {
    case kLoss:
      return "the loss is not finite";
    case kNorm:
      return "the gradient norm is not finite";
    case kLimit:
      return "the loss is above divergence_loss";
    default:
      return "dropped by an order";
  }
}

}  // namespace

ReplicaHealth::ReplicaHealth(std::vector<int64_t> seeds,
                             std::optional<double> loss_limit,
                             const torch::Device& device)
    : seeds_(std::move(seeds)), loss_limit_(loss_limit), ends_(seeds_.size()) {
  const auto replicas = static_cast<int64_t>(seeds_.size());
  const auto options = torch::TensorOptions().device(device);
  alive_R_ = torch::ones({replicas}, options.dtype(torch::kBool));
  cause_R_ = torch::zeros({replicas}, options.dtype(torch::kInt64));
  step_R_ = torch::zeros({replicas}, options.dtype(torch::kInt64));
}

void ReplicaHealth::Judge(const Tensor& loss_R, const Tensor& norm_R,
                          int64_t step) {
  const Tensor bad_loss_R = at::isfinite(loss_R).logical_not_();
  const Tensor bad_norm_R = at::isfinite(norm_R).logical_not_();
  Tensor cause_R = bad_norm_R.to(torch::kInt64) * int64_t{kNorm};
  if (loss_limit_) {
    cause_R.masked_fill_(loss_R > *loss_limit_, int64_t{kLimit});
  }
  cause_R.masked_fill_(bad_loss_R, int64_t{kLoss});
  cause_R.mul_(alive_R_);  // a cause counts once
  cause_R_ += cause_R;
  const Tensor ended_R = cause_R.ne(int64_t{kNone});
  step_R_.masked_fill_(ended_R, step);
  alive_R_.logical_and_(ended_R.logical_not());
}

void ReplicaHealth::Drop(int64_t replica, int64_t step) {
  if (replica < 0 || replica >= static_cast<int64_t>(seeds_.size())) return;
  if (!alive_R_[replica].item<bool>()) return;
  alive_R_[replica] = false;
  cause_R_[replica] = int64_t{kDropped};
  step_R_[replica] = step;
}

std::vector<ReplicaEndEvent> ReplicaHealth::Read() {
  const Tensor read = torch::stack({cause_R_, step_R_}).cpu();
  const auto values = read.accessor<int64_t, 2>();
  std::vector<ReplicaEndEvent> news;
  for (size_t r = 0; r < seeds_.size(); ++r) {
    const auto at = static_cast<int64_t>(r);
    if (values[0][at] == kNone || ends_[r]) continue;
    ends_[r] = ReplicaEndEvent{.replica = at,
                               .seed = seeds_[r],
                               .state = values[0][at] == kDropped
                                            ? ReplicaState::kDropped
                                            : ReplicaState::kDiverged,
                               .step = values[1][at],
                               .reason = Reason(values[0][at])};
    news.push_back(*ends_[r]);
  }
  return news;
}

std::vector<ReplicaHealth::Ending> ReplicaHealth::Save() const {
  const Tensor read = torch::stack({cause_R_, step_R_}).cpu();
  const auto values = read.accessor<int64_t, 2>();
  std::vector<Ending> endings;
  for (int64_t r = 0; r < read.size(1); ++r) {
    endings.push_back(
        {kWords[static_cast<size_t>(values[0][r])], values[1][r]});
  }
  return endings;
}

void ReplicaHealth::Restore(const std::vector<Ending>& endings) {
  for (size_t r = 0; r < endings.size(); ++r) {
    const auto* const word =
        std::find(kWords.begin(), kWords.end(), endings[r].cause);
    TORCH_CHECK(word != kWords.end(), "no cause ", endings[r].cause);
    const auto at = static_cast<int64_t>(r);
    const int64_t cause = word - kWords.begin();
    cause_R_[at] = cause;
    step_R_[at] = endings[r].step;
    alive_R_[at] = cause == kNone;
  }
}

bool ReplicaHealth::AnyAlive() const {
  return std::any_of(ends_.begin(), ends_.end(),
                     [](const auto& end) { return !end; });
}

bool ReplicaHealth::AnyDiverged() const {
  return std::any_of(ends_.begin(), ends_.end(), [](const auto& end) {
    return end && end->state == ReplicaState::kDiverged;
  });
}

}  // namespace leadline::trainer
