#include "worker/trainer/gradient_buckets.h"

#include <utility>

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

namespace leadline::trainer {

using torch::Tensor;

// Called each time a parameter's gradient has grown.
struct GradientBuckets::Hook final : torch::autograd::PostAccumulateGradHook {
  Hook(GradientBuckets& its_owner, size_t its_bucket)
      : owner(its_owner), bucket(its_bucket) {}
  void operator()(const Tensor&) override { owner.Take(bucket); }

  GradientBuckets& owner;
  size_t bucket;
};

GradientBuckets::GradientBuckets(
    const std::vector<model::NamedParameter>& parameters,
    collective::Communicator& communicator, bool overlap, int64_t bytes)
    : communicator_(communicator), overlap_(overlap) {
  for (const model::NamedParameter& parameter : parameters) {
    const Tensor& tensor = parameter.tensor;
    if (!tensor.requires_grad()) continue;
    const bool fits =
        !buckets_.empty() &&
        buckets_.back().parameters.back().dtype() == tensor.dtype() &&
        (buckets_.back().elements + tensor.numel()) * tensor.element_size() <=
            bytes;
    if (!fits) buckets_.emplace_back();
    buckets_.back().parameters.push_back(tensor);
    buckets_.back().elements += tensor.numel();
  }
  for (size_t i = 0; i < buckets_.size(); ++i) {
    Bucket& bucket = buckets_[i];
    bucket.flat = torch::empty(
        {bucket.elements}, bucket.parameters[0].options().requires_grad(false));
    for (const Tensor& parameter : bucket.parameters) {
      torch::autograd::impl::set_post_acc_grad_hooks(
          parameter, std::make_unique<Hook>(*this, i));
    }
  }
}

GradientBuckets::~GradientBuckets() {
  for (const Bucket& bucket : buckets_) {
    for (const Tensor& parameter : bucket.parameters) {
      torch::autograd::impl::set_post_acc_grad_hooks(parameter, nullptr);
    }
  }
}

void GradientBuckets::Arm() {
  armed_ = true;
  next_ = 0;
  for (Bucket& bucket : buckets_) {
    bucket.missing = bucket.parameters.size();
  }
}

void GradientBuckets::Take(size_t bucket) {
  if (!armed_) return;
  --buckets_[bucket].missing;
  if (!overlap_) return;
  while (next_ < buckets_.size() && buckets_[next_].missing == 0) {
    Send(buckets_[next_++]);
  }
}

void GradientBuckets::Send(Bucket& bucket) {
  const torch::NoGradGuard no_grad;
  int64_t at = 0;
  for (const Tensor& parameter : bucket.parameters) {
    const Tensor& gradient = parameter.grad();
    if (!gradient.defined()) continue;
    bucket.flat.narrow(0, at, gradient.numel())
        .view(gradient.sizes())
        .copy_(gradient);
    at += gradient.numel();
  }
  bucket.operation = communicator_.StartAllReduce(bucket.flat.narrow(0, 0, at));
}

void GradientBuckets::Finish() {
  const torch::NoGradGuard no_grad;
  armed_ = false;
  while (next_ < buckets_.size()) Send(buckets_[next_++]);
  for (Bucket& bucket : buckets_) {
    communicator_.Wait(bucket.operation);
    bucket.flat /= static_cast<double>(communicator_.size());
    int64_t at = 0;
    for (Tensor& parameter : bucket.parameters) {
      Tensor& gradient = parameter.mutable_grad();
      if (!gradient.defined()) continue;
      const int64_t count = gradient.numel();
      gradient = bucket.flat.narrow(0, at, count).view(gradient.sizes());
      at += count;
    }
  }
}

}  // namespace leadline::trainer
