#include "model/router/route.h"

#include <memory>
#include <optional>
#include <utility>

#include "model/layers/cpu_loop.h"
#include "model/router/call.h"

namespace leadline::model {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// What one router's forward and backward share. The sources' values are not in
/// it: autograd keeps those, by reference, and lets go of them in time.
struct RouteState : torch::CustomClassHolder {
  RouteCall call;
  std::vector<std::shared_ptr<SourceGradient>> gradients;
  bool has_key = false;
  bool has_bias = false;
  Tensor weights_JRBT;  // between forward and its caller
};

std::optional<Tensor> OrNone(const Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

/// dL/db from dL/dz of the candidates, summed over tokens.
Tensor BiasGradient(const RouteCall& call, const Tensor& logits_RJ) {
  std::vector<int64_t> from;
  std::vector<int64_t> to;
  for (int64_t j = 0; j < call.sources(); ++j) {
    if (call.bias_columns[j] < 0) continue;
    from.push_back(j);
    to.push_back(call.bias_columns[j]);
  }
  const auto index = [&](const std::vector<int64_t>& list) {
    return torch::tensor(list, torch::kInt64).to(logits_RJ.device());
  };
  // Columns repeat (all details of a kind share one bias), so this is a product
  // with a 0-1 matrix: its sums have a fixed order.
  Tensor share_JC =
      torch::zeros({call.sources(), call.bias_RC.size(1)}, logits_RJ.options());
  share_JC.index_put_(
      {index(from), index(to)},
      torch::ones({static_cast<int64_t>(from.size())}, logits_RJ.options()));
  return torch::matmul(logits_RJ, share_JC);
}

/// Slices of all routers' parameters are used where they lie: a copy would be a
/// call that several replicas need and one does not.
Tensor WithDenseRows(const Tensor& matrix) {
  return matrix.stride(1) == 1 ? matrix : matrix.contiguous();
}

class RouteFunction : public torch::autograd::Function<RouteFunction> {
 public:
  static Tensor forward(AutogradContext* context,
                        const c10::intrusive_ptr<RouteState>& state,
                        const std::optional<Tensor>& key,
                        const std::optional<Tensor>& bias,
                        torch::TensorList values) {
    RouteCall& call = state->call;
    call.values_RBTD = values.vec();
    if (key) call.key_RD = WithDenseRows(*key);
    if (bias) call.bias_RC = WithDenseRows(*bias);
    RouteOutput output = HasCpuLoops(call.values_RBTD[0]) ? RouteOnCpu(call)
                                                          : RouteAnywhere(call);
    variable_list saved = std::exchange(call.values_RBTD, {});
    saved.push_back(output.weights_JRBT);
    saved.push_back(std::exchange(call.key_RD, {}));
    saved.push_back(std::exchange(call.bias_RC, {}));
    context->save_for_backward(std::move(saved));
    context->saved_data["state"] = c10::IValue::make_capsule(state);
    state->weights_JRBT = output.weights_JRBT;
    return output.out_RBTD;
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const auto state = c10::static_intrusive_pointer_cast<RouteState>(
        context->saved_data["state"].toCapsule());
    variable_list saved = context->get_saved_variables();
    RouteCall call = state->call;
    call.bias_RC = saved.back();
    saved.pop_back();
    call.key_RD = saved.back();
    saved.pop_back();
    const Tensor weights_JRBT = saved.back();
    saved.pop_back();
    call.values_RBTD = std::move(saved);

    RouteGradients wanted = Wanted(*context, *state);
    const Tensor dout_RBTD = gradients[0].contiguous();
    const auto backward =
        HasCpuLoops(dout_RBTD) ? &RouteBackwardOnCpu : &RouteBackwardAnywhere;
    backward(call, weights_JRBT, dout_RBTD, wanted);
    for (size_t j = 0; j < wanted.sources.size(); ++j) {
      if (!wanted.sources[j].wanted) continue;
      *state->gradients[j] = {std::move(wanted.sources[j].after_RBTD), false};
    }
    variable_list result(3 + call.values_RBTD.size());
    result[1] = wanted.key_RD;
    if (wanted.logits_wanted) {
      result[2] = BiasGradient(call, wanted.logits_RJ);
    }
    return result;
  }

 private:
  /// Takes over what the sources' buffers hold.
  static RouteGradients Wanted(const AutogradContext& context,
                               const RouteState& state) {
    RouteGradients result;
    size_t edge = 0;
    result.key_wanted = state.has_key && context.needs_input_grad(edge);
    edge += state.has_key ? 1 : 0;
    result.logits_wanted = state.has_bias && context.needs_input_grad(edge);
    edge += state.has_bias ? 1 : 0;
    for (const std::shared_ptr<SourceGradient>& gradient : state.gradients) {
      RouteGradients::OfSource source;
      source.wanted = context.needs_input_grad(edge++);
      if (source.wanted) {
        source.before_RBTD = gradient->sum_RBTD;
        source.in_place = !gradient->shared;
      }
      result.sources.push_back(std::move(source));
    }
    return result;
  }
};

}  // namespace

Tensor Route(const std::vector<Candidate>& candidates, const RouterKey& router,
             Tensor* weights_JRBT) {
  TORCH_CHECK(!candidates.empty(), "a router without sources");
  if (candidates.size() == 1) {
    const Tensor& value = candidates[0].source.value_RBTD;
    if (weights_JRBT != nullptr) {
      std::vector<int64_t> sizes = value.sizes().slice(0, 3).vec();
      sizes.insert(sizes.begin(), 1);
      *weights_JRBT = torch::ones(sizes, value.options());
    }
    return value;
  }
  auto state = c10::make_intrusive<RouteState>();
  std::vector<Tensor> values;
  for (const Candidate& candidate : candidates) {
    values.push_back(candidate.source.value_RBTD);
    state->gradients.push_back(candidate.source.gradient);
    state->call.inverse_rms_RBT.push_back(
        router.normalised ? candidate.source.inverse_rms_RBT : Tensor());
    state->call.scales_RBT.push_back(candidate.scale_RBT);
    state->call.bias_columns.push_back(candidate.bias_column);
  }
  state->has_key = router.key_RD.defined();
  state->has_bias = router.bias_RC.defined();
  const Tensor out_RBTD =
      RouteFunction::apply(state, OrNone(router.key_RD), OrNone(router.bias_RC),
                           torch::TensorList(values));
  const Tensor weights = std::exchange(state->weights_JRBT, {});
  if (weights_JRBT != nullptr) *weights_JRBT = weights;
  return out_RBTD;
}

}  // namespace leadline::model
