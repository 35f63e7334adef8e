#include "model/layers/cpu_loop.h"
#include "model/router/call.h"
#include "model/router/route_kernel.h"

namespace leadline::model {
namespace {

using torch::Tensor;

int64_t RowStride(const Tensor& matrix) {
  return matrix.defined() ? matrix.stride(0) : 0;
}

RouteShape ShapeOf(const RouteCall& call) {
  const torch::IntArrayRef sizes = call.values_RBTD[0].sizes();
  return {.sources = call.sources(),
          .sequences = sizes[0] * sizes[1],
          .sequences_per_replica = sizes[1],
          .tokens = sizes[2],
          .width = sizes[3],
          .key_stride = RowStride(call.key_RD),
          .bias_stride = RowStride(call.bias_RC)};
}

template <typename Scalar>
const Scalar* Pointer(const Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr<Scalar>() : nullptr;
}

template <typename Scalar>
RouteInput<Scalar> InputOf(const RouteCall& call) {
  RouteInput<Scalar> input;
  for (size_t j = 0; j < call.values_RBTD.size(); ++j) {
    input.values.push_back(Pointer<Scalar>(call.values_RBTD[j]));
    input.inverse_rms.push_back(Pointer<Scalar>(call.inverse_rms_RBT[j]));
    input.scales.push_back(Pointer<Scalar>(call.scales_RBT[j]));
  }
  input.bias_columns = call.bias_columns;
  input.key = Pointer<Scalar>(call.key_RD);
  input.bias = Pointer<Scalar>(call.bias_RC);
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

template <typename Scalar>
RouteGradient<Scalar> PointersOf(const RouteGradients& gradients) {
  RouteGradient<Scalar> pointers;
  for (const RouteGradients::OfSource& source : gradients.sources) {
    pointers.before.push_back(Pointer<Scalar>(source.before_RBTD));
    pointers.after.push_back(
        source.wanted ? source.after_RBTD.data_ptr<Scalar>() : nullptr);
  }
  return pointers;
}

}  // namespace

RouteOutput RouteOnCpu(const RouteCall& call) {
  const Tensor& like = call.values_RBTD[0];
  const torch::IntArrayRef sizes = like.sizes();
  RouteOutput result{
      torch::empty_like(like),
      torch::empty({call.sources(), sizes[0], sizes[1], sizes[2]},
                   like.options())};
  AT_DISPATCH_FLOATING_TYPES(like.scalar_type(), "Route", [&] {
    const RouteInput<scalar_t> input = InputOf<scalar_t>(call);
    auto* out = result.out_RBTD.data_ptr<scalar_t>();
    auto* weights = result.weights_JRBT.data_ptr<scalar_t>();
    EachSequence(like, [&](int64_t first, int64_t last) {
      RouteForward(ShapeOf(call), input, first, last, out, weights);
    });
  });
  return result;
}

void RouteBackwardOnCpu(const RouteCall& call, const Tensor& weights_JRBT,
                        const Tensor& dout_RBTD, RouteGradients& gradients) {
  const Tensor& like = call.values_RBTD[0];
  const int64_t replicas = like.size(0);
  const int64_t sequences = like.size(1);
  Prepare(call, gradients);
  Tensor key_RBD;
  Tensor logits_RBJ;
  if (gradients.key_wanted) {
    key_RBD = torch::empty({replicas, sequences, like.size(3)}, like.options());
  }
  if (gradients.logits_wanted) {
    logits_RBJ =
        torch::empty({replicas, sequences, call.sources()}, like.options());
  }
  AT_DISPATCH_FLOATING_TYPES(like.scalar_type(), "RouteBackward", [&] {
    const RouteInput<scalar_t> input = InputOf<scalar_t>(call);
    RouteGradient<scalar_t> pointers = PointersOf<scalar_t>(gradients);
    if (key_RBD.defined()) pointers.key = key_RBD.data_ptr<scalar_t>();
    if (logits_RBJ.defined()) pointers.logits = logits_RBJ.data_ptr<scalar_t>();
    const auto* weights = weights_JRBT.const_data_ptr<scalar_t>();
    const auto* dout = dout_RBTD.const_data_ptr<scalar_t>();
    EachSequence(like, [&](int64_t first, int64_t last) {
      RouteBackward(ShapeOf(call), input, weights, dout, first, last, pointers);
    });
  });
  if (key_RBD.defined()) gradients.key_RD = key_RBD.sum(1);
  if (logits_RBJ.defined()) gradients.logits_RJ = logits_RBJ.sum(1);
}

}  // namespace leadline::model
