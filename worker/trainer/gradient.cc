#include "worker/trainer/gradient.h"

#include "worker/trainer/gradient_order.h"

namespace leadline::trainer {

using torch::Tensor;

Gradient::Gradient(const model::Decoder& decoder,
                   const spec::Settings& settings, const Batches& batches,
                   collective::Communicator& communicator,
                   const torch::Device& device, bool overlap)
    : decoder_(decoder),
      batches_(batches),
      communicator_(communicator),
      device_(device),
      sequences_(settings.Integer("batch_sequences") / communicator.size()),
      micro_batch_(sequences_) {
  if (const auto given = settings.NumberUnlessWord("micro_batch")) {
    micro_batch_ = static_cast<int64_t>(*given);
  }
  if (settings.IsOn("freeze_base")) {
    for (const model::NamedParameter& p : decoder.parameters_in_order()) {
      p.tensor.set_requires_grad(p.of_method);
    }
  }
  TORCH_CHECK(sequences_ > 0 && sequences_ % micro_batch_ == 0, micro_batch_,
              " does not divide the ", sequences_, " sequences of a rank");
  if (communicator.size() > 1) {
    const auto ordered =
        InOrderOfGradients(decoder.parameters_in_order(), communicator, [this] {
          Loss_R(0, communicator_.rank() * sequences_, CountScored_R(0))
              .sum()
              .backward();
        });
    buckets_.emplace(ordered, communicator, overlap);
  }
}

Tensor Gradient::Compute(int64_t step) {
  for (const model::NamedParameter& parameter :
       decoder_.parameters_in_order()) {
    // Undefined, not zero: the first backward pass then moves its result in.
    Tensor tensor = parameter.tensor;
    tensor.mutable_grad().reset();
  }
  const Tensor counts_R = CountScored_R(step);
  Tensor loss_R;
  uint64_t sum_of_losses = 0;
  const int64_t begin = communicator_.rank() * sequences_;
  for (int64_t at = 0; at < sequences_; at += micro_batch_) {
    Tensor part_R = Loss_R(step, begin + at, counts_R);
    const Tensor value_R = part_R.detach().to(torch::kFloat64);
    loss_R = loss_R.defined() ? loss_R + value_R : value_R;
    if (buckets_ && at + micro_batch_ == sequences_) {
      // Not what the backward pass may still look at.
      loss_R = loss_R.clone();
      sum_of_losses = communicator_.StartAllReduce(loss_R);
      buckets_->Arm();
    }
    part_R.sum().backward();
  }
  if (buckets_) {
    communicator_.Wait(sum_of_losses);
    loss_R /= static_cast<double>(communicator_.size());
    buckets_->Finish();
  }
  return loss_R;
}

Tensor Gradient::CountScored_R(int64_t step) const {
  const std::vector<int64_t> counts =
      batches_.CountScored(step, 0, sequences_ * communicator_.size());
  if (counts.empty()) return {};
  return torch::tensor(counts, torch::kFloat32).to(device_);
}

Tensor Gradient::Loss_R(int64_t step, int64_t first,
                        const Tensor& counts_R) const {
  const Batch batch = batches_.Read(step, first, micro_batch_);
  model::ForwardOptions options;
  options.training = true;
  options.step = step;
  options.first_sequence = first;
  // The logits have no name: nothing needs them once the losses are there.
  const Tensor losses_RBT = model::TokenLosses(
      decoder_.Forward(batch.tokens_RBT.to(device_), options),
      batch.targets_RBT.to(device_));
  Tensor loss_R;
  if (counts_R.defined()) {
    // Sums over micro-batches and the mean over ranks then give the mean.
    const auto ranks = static_cast<double>(communicator_.size());
    const Tensor scored_RBT = batch.scored_RBT.to(device_);
    loss_R = (losses_RBT * scored_RBT).sum({1, 2}) * ranks / counts_R;
  } else {
    const int64_t micro_batches = sequences_ / micro_batch_;
    const auto scale = static_cast<double>(micro_batches);
    loss_R = losses_RBT.mean({1, 2});
    if (scale != 1) loss_R = loss_R / scale;
  }
  return loss_R;
}

}  // namespace leadline::trainer
