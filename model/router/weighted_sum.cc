#include "model/router/weighted_sum.h"

#include <memory>
#include <utility>

#include "model/layers/cpu_loop.h"
#include "model/router/weighted_sum_kernel.h"

namespace leadline::model {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The buffers that forward and backward share.
struct SumState : torch::CustomClassHolder {
  std::vector<std::shared_ptr<SourceGradient>> gradients;
};

SumShape ShapeOf(const Tensor& value_RBTD, size_t sources) {
  return {.sources = static_cast<int64_t>(sources),
          .sequences_per_replica = value_RBTD.size(1),
          .tokens = value_RBTD.size(2),
          .width = value_RBTD.size(3)};
}

template <typename Scalar>
std::vector<const Scalar*> Pointers(torch::TensorList tensors) {
  std::vector<const Scalar*> pointers;
  for (const Tensor& tensor : tensors) {
    pointers.push_back(tensor.defined() ? tensor.const_data_ptr<Scalar>()
                                        : nullptr);
  }
  return pointers;
}

Tensor ForwardOnCpu(torch::TensorList values, const Tensor& weights_RJ) {
  Tensor out_RBTD = torch::empty_like(values[0]);
  AT_DISPATCH_FLOATING_TYPES(out_RBTD.scalar_type(), "WeightedSum", [&] {
    const auto pointers = Pointers<scalar_t>(values);
    const auto* weights = weights_RJ.const_data_ptr<scalar_t>();
    auto* out = out_RBTD.data_ptr<scalar_t>();
    EachSequence(out_RBTD, [&](int64_t first, int64_t last) {
      SumForward(ShapeOf(out_RBTD, values.size()), pointers, weights, first,
                 last, out);
    });
  });
  return out_RBTD;
}

Tensor OfSource(const Tensor& weights_RJ, size_t j) {
  return weights_RJ.narrow(1, static_cast<int64_t>(j), 1)
      .unsqueeze(-1)
      .unsqueeze(-1);
}

Tensor ForwardAnywhere(torch::TensorList values, const Tensor& weights_RJ) {
  Tensor out_RBTD = values[0] * OfSource(weights_RJ, 0);
  for (size_t j = 1; j < values.size(); ++j) {
    out_RBTD.addcmul_(values[j], OfSource(weights_RJ, j));
  }
  return out_RBTD;
}

/// What the sources' buffers hold, and what they will.
struct Buffers {
  std::vector<Tensor> before;
  std::vector<Tensor> after;  // undefined: not wanted
};

Buffers Take(const AutogradContext& context, const SumState& state,
             const Tensor& like) {
  Buffers buffers;
  for (size_t j = 0; j < state.gradients.size(); ++j) {
    const bool wanted = context.needs_input_grad(1 + j);
    const SourceGradient& gradient = *state.gradients[j];
    buffers.before.push_back(wanted ? gradient.sum_RBTD : Tensor());
    const bool in_place = gradient.sum_RBTD.defined() && !gradient.shared;
    buffers.after.push_back(!wanted    ? Tensor()
                            : in_place ? gradient.sum_RBTD
                                       : torch::empty_like(like));
  }
  return buffers;
}

/// Returns dL/dweights [R, J].
Tensor BackwardOnCpu(torch::TensorList values, const Tensor& weights_RJ,
                     const Tensor& dout_RBTD, const Buffers& buffers) {
  const auto sources = static_cast<int64_t>(values.size());
  Tensor dweights_RBJ = torch::empty(
      {dout_RBTD.size(0), dout_RBTD.size(1), sources}, dout_RBTD.options());
  AT_DISPATCH_FLOATING_TYPES(dout_RBTD.scalar_type(), "WeightedSum", [&] {
    const auto pointers = Pointers<scalar_t>(values);
    const auto* weights = weights_RJ.const_data_ptr<scalar_t>();
    const auto* dout = dout_RBTD.const_data_ptr<scalar_t>();
    SumGradient<scalar_t> gradient{Pointers<scalar_t>(buffers.before),
                                   {},
                                   dweights_RBJ.data_ptr<scalar_t>()};
    for (const Tensor& after : buffers.after) {
      gradient.after.push_back(after.defined() ? after.data_ptr<scalar_t>()
                                               : nullptr);
    }
    EachSequence(dout_RBTD, [&](int64_t first, int64_t last) {
      SumBackward(ShapeOf(dout_RBTD, values.size()), pointers, weights, dout,
                  first, last, gradient);
    });
  });
  return dweights_RBJ.sum(1);
}

Tensor BackwardAnywhere(torch::TensorList values, const Tensor& weights_RJ,
                        const Tensor& dout_RBTD, const Buffers& buffers) {
  std::vector<Tensor> dweights_R;
  for (size_t j = 0; j < values.size(); ++j) {
    dweights_R.push_back((dout_RBTD * values[j]).sum({1, 2, 3}));
    if (!buffers.after[j].defined()) continue;
    Tensor after = buffers.after[j];
    const Tensor weight = OfSource(weights_RJ, j);
    if (!buffers.before[j].defined()) {
      at::mul_out(after, dout_RBTD, weight);
    } else {
      at::addcmul_out(after, buffers.before[j], dout_RBTD, weight);
    }
  }
  return torch::stack(dweights_R, 1);
}

class SumFunction : public torch::autograd::Function<SumFunction> {
 public:
  static Tensor forward(AutogradContext* context,
                        const c10::intrusive_ptr<SumState>& state,
                        const Tensor& weights_RJ, torch::TensorList values) {
    const auto forward =
        HasCpuLoops(values[0]) ? &ForwardOnCpu : &ForwardAnywhere;
    Tensor out_RBTD = forward(values, weights_RJ);
    variable_list saved = values.vec();
    saved.push_back(weights_RJ);
    context->save_for_backward(std::move(saved));
    context->saved_data["state"] = c10::IValue::make_capsule(state);
    return out_RBTD;
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const auto state = c10::static_intrusive_pointer_cast<SumState>(
        context->saved_data["state"].toCapsule());
    variable_list values = context->get_saved_variables();
    const Tensor weights_RJ = values.back();
    values.pop_back();
    const Tensor dout_RBTD = gradients[0].contiguous();
    Buffers buffers = Take(*context, *state, dout_RBTD);
    const auto backward =
        HasCpuLoops(dout_RBTD) ? &BackwardOnCpu : &BackwardAnywhere;
    variable_list result(2 + values.size());
    result[1] = backward(values, weights_RJ, dout_RBTD, buffers);
    for (size_t j = 0; j < values.size(); ++j) {
      if (!buffers.after[j].defined()) continue;
      *state->gradients[j] = {std::move(buffers.after[j]), false};
    }
    return result;
  }
};

}  // namespace

Tensor WeightedSum(const std::vector<Source>& sources,
                   const Tensor& weights_RJ) {
  TORCH_CHECK(!sources.empty() &&
                  weights_RJ.size(1) == static_cast<int64_t>(sources.size()),
              "weights of shape ", weights_RJ.sizes(), " for ", sources.size(),
              " sources");
  auto state = c10::make_intrusive<SumState>();
  std::vector<Tensor> values;
  for (const Source& source : sources) {
    values.push_back(source.value_RBTD);
    state->gradients.push_back(source.gradient);
  }
  return SumFunction::apply(state, weights_RJ, torch::TensorList(values));
}

}  // namespace leadline::model
