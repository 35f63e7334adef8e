#include "model/layers/cpu_loop.h"
#include "model/router/call.h"
#include "model/router/route_kernel.h"

namespace leadline::model {
namespace {

using torch::Tensor;

int64_t RowStride(const Tensor& rows) {
  return rows.defined() ? rows.stride(0) : 0;
}

RouteShape ShapeOf(const RouteCall& call) {
  const torch::IntArrayRef sizes = call.values_RBTD[0].sizes();
  return {.sources = call.weighted(),
          .heads = call.heads,
          .sequences = sizes[0] * sizes[1],
          .sequences_per_replica = sizes[1],
          .tokens = sizes[2],
          .width = sizes[3],
          .key_stride = RowStride(call.key_RD)};
}

template <typename Scalar>
const Scalar* Pointer(const Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr<Scalar>() : nullptr;
}

template <typename Scalar>
RouteSource<Scalar> NullOf(const RouteCall& call) {
  return {.value = Pointer<Scalar>(call.null_RD),
          .inverse_rms = Pointer<Scalar>(call.null_inverse_rms_R),
          .bias = Pointer<Scalar>(call.null_logit_R),
          .bias_stride = RowStride(call.null_logit_R),
          .stride = RowStride(call.null_RD),
          .of_replica = true};
}

template <typename Scalar>
RouteInput<Scalar> InputOf(const RouteCall& call) {
  RouteInput<Scalar> input{.key = Pointer<Scalar>(call.key_RD)};
  if (call.has_null) input.sources.push_back(NullOf<Scalar>(call));
  for (size_t j = 0; j < call.values_RBTD.size(); ++j) {
    RouteSource<Scalar> source{
        .value = Pointer<Scalar>(call.values_RBTD[j]),
        .inverse_rms = Pointer<Scalar>(call.inverse_rms_RBT[j]),
        .scale = Pointer<Scalar>(call.scales_RBT[j]),
        .stride = call.values_RBTD[j].size(3)};
    if (call.bias_columns[j] >= 0) {
      source.bias = Pointer<Scalar>(call.bias_RC) + call.bias_columns[j];
      source.bias_stride = RowStride(call.bias_RC);
    }
    input.sources.push_back(source);
  }
  return input;
}

/// Allocates what a backward pass writes.
void Prepare(const RouteCall& call, RouteGradients& gradients) {
  for (size_t j = 0; j < gradients.sources.size(); ++j) {
    RouteGradients::OfSource& source = gradients.sources[j];
    if (!source.wanted) continue;
    source.after_RBTD = source.before_RBTD.defined() && source.in_place
                            ? source.before_RBTD
                            : torch::empty_like(call.values_RBTD[j]);
  }
}

/// Sums over the tokens of one sequence each, before those over sequences.
struct SequenceSums {
  Tensor key_RBD;
  Tensor logits_RBN;
  Tensor null_RBD;

  SequenceSums(const RouteCall& call, const RouteGradients& wanted) {
    const Tensor& like = call.values_RBTD[0];
    const auto make = [&](bool is_wanted, int64_t width) {
      return is_wanted ? torch::empty({like.size(0), like.size(1), width},
                                      like.options())
                       : Tensor();
    };
    key_RBD = make(wanted.key_wanted, like.size(3));
    logits_RBN = make(wanted.logits_wanted, call.weighted());
    null_RBD = make(wanted.null_wanted, like.size(3));
  }

  void AddUp(RouteGradients& gradients) const {
    if (key_RBD.defined()) gradients.key_RD = key_RBD.sum(1);
    if (logits_RBN.defined()) gradients.logits_RN = logits_RBN.sum(1);
    if (null_RBD.defined()) gradients.null_RD = null_RBD.sum(1);
  }
};

template <typename Scalar>
Scalar* Target(const Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<Scalar>() : nullptr;
}

template <typename Scalar>
RouteGradient<Scalar> PointersOf(const RouteCall& call,
                                 const RouteGradients& gradients,
                                 const SequenceSums& sums) {
  RouteGradient<Scalar> pointers;
  if (call.has_null) {
    pointers.before.push_back(nullptr);
    pointers.after.push_back(Target<Scalar>(sums.null_RBD));
  }
  for (const RouteGradients::OfSource& source : gradients.sources) {
    pointers.before.push_back(Pointer<Scalar>(source.before_RBTD));
    pointers.after.push_back(source.wanted ? Target<Scalar>(source.after_RBTD)
                                           : nullptr);
  }
  pointers.key = Target<Scalar>(sums.key_RBD);
  pointers.logits = Target<Scalar>(sums.logits_RBN);
  return pointers;
}

}  // namespace

RouteOutput RouteOnCpu(const RouteCall& call) {
  const Tensor& like = call.values_RBTD[0];
  const torch::IntArrayRef sizes = like.sizes();
  RouteOutput result{
      torch::empty_like(like),
      torch::empty({call.weighted(), sizes[0], sizes[1], sizes[2], call.heads},
                   like.options())};
  AT_DISPATCH_FLOATING_TYPES(like.scalar_type(), "Route", [&] {
    const RouteInput<scalar_t> input = InputOf<scalar_t>(call);
    auto* out = result.out_RBTD.data_ptr<scalar_t>();
    auto* weights = result.weights_NRBTG.data_ptr<scalar_t>();
    EachSequence(like, [&](int64_t first, int64_t last) {
      RouteForward(ShapeOf(call), input, first, last, out, weights);
    });
  });
  return result;
}

void RouteBackwardOnCpu(const RouteCall& call, const Tensor& weights_NRBTG,
                        const Tensor& dout_RBTD, RouteGradients& gradients) {
  const Tensor& like = call.values_RBTD[0];
  Prepare(call, gradients);
  const SequenceSums sums(call, gradients);
  AT_DISPATCH_FLOATING_TYPES(like.scalar_type(), "RouteBackward", [&] {
    const RouteInput<scalar_t> input = InputOf<scalar_t>(call);
    const auto pointers = PointersOf<scalar_t>(call, gradients, sums);
    const auto* weights = weights_NRBTG.const_data_ptr<scalar_t>();
    const auto* dout = dout_RBTD.const_data_ptr<scalar_t>();
    EachSequence(like, [&](int64_t first, int64_t last) {
      RouteBackward(ShapeOf(call), input, weights, dout, first, last, pointers);
    });
  });
  sums.AddUp(gradients);
}

}  // namespace leadline::model
