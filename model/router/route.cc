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
  double null_eps = 0;
  bool normalised = true;
  bool has_key = false;
  bool has_bias = false;
  bool has_null_value = false;
  bool has_null_logit = false;
  Tensor weights_NRBTG;  // between forward and its caller
};

/// What a backward pass was asked for.
struct Wanted {
  RouteGradients gradients;
  bool bias = false;
  bool null_logit = false;
};

std::optional<Tensor> OrNone(const Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

/// dL/db from dL/dz of the candidates, summed over tokens.
Tensor BiasGradient(const RouteCall& call, const Tensor& logits_RN) {
  std::vector<int64_t> from;
  std::vector<int64_t> to;
  for (size_t j = 0; j < call.bias_columns.size(); ++j) {
    if (call.bias_columns[j] < 0) continue;
    from.push_back(static_cast<int64_t>(j) + (call.has_null ? 1 : 0));
    to.push_back(call.bias_columns[j]);
  }
  const auto index = [&](const std::vector<int64_t>& list) {
    return torch::tensor(list, torch::kInt64).to(logits_RN.device());
  };
  // Columns repeat (all details of a kind share one bias), so this is a product
  // with a 0-1 matrix: its sums have a fixed order.
  Tensor share_NC = torch::zeros({call.weighted(), call.bias_RC.size(1)},
                                 logits_RN.options());
  share_NC.index_put_(
      {index(from), index(to)},
      torch::ones({static_cast<int64_t>(from.size())}, logits_RN.options()));
  return torch::matmul(logits_RN, share_NC);
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
                        const std::optional<Tensor>& null_value,
                        const std::optional<Tensor>& null_logit,
                        torch::TensorList values) {
    RouteCall& call = state->call;
    call.values_RBTD = values.vec();
    if (key) call.key_RD = WithDenseRows(*key);
    if (bias) call.bias_RC = WithDenseRows(*bias);
    if (null_value) TakeNull(WithDenseRows(*null_value), *state);
    if (null_logit) call.null_logit_R = *null_logit;
    RouteOutput output = HasCpuLoops(call.values_RBTD[0]) ? RouteOnCpu(call)
                                                          : RouteAnywhere(call);
    variable_list saved = std::exchange(call.values_RBTD, {});
    saved.push_back(output.weights_NRBTG);
    saved.push_back(std::exchange(call.key_RD, {}));
    saved.push_back(std::exchange(call.bias_RC, {}));
    saved.push_back(std::exchange(call.null_RD, {}));
    saved.push_back(std::exchange(call.null_logit_R, {}));
    context->save_for_backward(std::move(saved));
    context->saved_data["state"] = c10::IValue::make_capsule(state);
    state->weights_NRBTG = output.weights_NRBTG;
    return output.out_RBTD;
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const auto state = c10::static_intrusive_pointer_cast<RouteState>(
        context->saved_data["state"].toCapsule());
    variable_list saved = context->get_saved_variables();
    const auto take = [&saved] {
      Tensor last = saved.back();
      saved.pop_back();
      return last;
    };
    RouteCall call = state->call;
    call.null_logit_R = take();
    call.null_RD = take();
    call.bias_RC = take();
    call.key_RD = take();
    const Tensor weights_NRBTG = take();
    call.values_RBTD = std::move(saved);

    Wanted wanted = WantedBy(*context, *state);
    RouteGradients& made = wanted.gradients;
    const Tensor dout_RBTD = gradients[0].contiguous();
    const auto backward =
        HasCpuLoops(dout_RBTD) ? &RouteBackwardOnCpu : &RouteBackwardAnywhere;
    backward(call, weights_NRBTG, dout_RBTD, made);
    for (size_t j = 0; j < made.sources.size(); ++j) {
      if (!made.sources[j].wanted) continue;
      *state->gradients[j] = {std::move(made.sources[j].after_RBTD), false};
    }
    variable_list result(5 + call.values_RBTD.size());
    result[1] = made.key_RD;
    if (wanted.bias) result[2] = BiasGradient(call, made.logits_RN);
    result[3] = made.null_RD;
    if (wanted.null_logit) result[4] = made.logits_RN.select(1, 0);
    return result;
  }

 private:
  static void TakeNull(const Tensor& null_RD, RouteState& state) {
    RouteCall& call = state.call;
    call.null_RD = null_RD;
    if (state.normalised) {
      call.null_inverse_rms_R =
          (null_RD.square().mean(-1) + state.null_eps).rsqrt();
    }
  }

  /// Takes over what the sources' buffers hold.
  static Wanted WantedBy(const AutogradContext& context,
                         const RouteState& state) {
    size_t edge = 0;
    const auto next = [&](bool there) {
      return there && context.needs_input_grad(edge++);
    };
    Wanted result;
    RouteGradients& gradients = result.gradients;
    gradients.key_wanted = next(state.has_key);
    result.bias = next(state.has_bias);
    gradients.null_wanted = next(state.has_null_value);
    result.null_logit = next(state.has_null_logit);
    gradients.logits_wanted = result.bias || result.null_logit;
    for (const std::shared_ptr<SourceGradient>& gradient : state.gradients) {
      RouteGradients::OfSource source;
      source.wanted = next(true);
      if (source.wanted) {
        source.before_RBTD = gradient->sum_RBTD;
        source.in_place = !gradient->shared;
      }
      gradients.sources.push_back(std::move(source));
    }
    return result;
  }
};

c10::intrusive_ptr<RouteState> StateOf(const std::vector<Candidate>& candidates,
                                       const RouterKey& router) {
  auto state = c10::make_intrusive<RouteState>();
  for (const Candidate& candidate : candidates) {
    state->gradients.push_back(candidate.source.gradient);
    state->call.inverse_rms_RBT.push_back(
        router.normalised ? candidate.source.inverse_rms_RBT : Tensor());
    state->call.scales_RBT.push_back(candidate.scale_RBT);
    state->call.bias_columns.push_back(candidate.bias_column);
  }
  state->call.heads = router.heads;
  state->call.has_null = router.null.exists();
  state->null_eps = router.null.eps;
  state->normalised = router.normalised;
  state->has_key = router.key_RD.defined();
  state->has_bias = router.bias_RC.defined();
  state->has_null_value = router.null.value_RD.defined();
  state->has_null_logit = router.null.logit_R.defined();
  return state;
}

/// The weights of one source by itself.
Tensor Ones(const Tensor& value_RBTD, int64_t heads) {
  std::vector<int64_t> sizes = value_RBTD.sizes().slice(0, 3).vec();
  sizes.insert(sizes.begin(), 1);
  if (heads > 1) sizes.push_back(heads);
  return torch::ones(sizes, value_RBTD.options());
}

}  // namespace

Tensor Route(const std::vector<Candidate>& candidates, const RouterKey& router,
             Tensor* weights) {
  TORCH_CHECK(!candidates.empty(), "a router without sources");
  const Tensor& first_RBTD = candidates[0].source.value_RBTD;
  TORCH_CHECK(router.heads >= 1 && first_RBTD.size(-1) % router.heads == 0,
              router.heads, " router heads for a width of ",
              first_RBTD.size(-1));
  if (candidates.size() == 1 && !router.null.exists()) {
    if (weights != nullptr) *weights = Ones(first_RBTD, router.heads);
    return first_RBTD;
  }
  std::vector<Tensor> values;
  values.reserve(candidates.size());
  for (const Candidate& candidate : candidates) {
    values.push_back(candidate.source.value_RBTD);
  }
  const auto state = StateOf(candidates, router);
  Tensor out_RBTD = RouteFunction::apply(
      state, OrNone(router.key_RD), OrNone(router.bias_RC),
      OrNone(router.null.value_RD), OrNone(router.null.logit_R),
      torch::TensorList(values));
  const Tensor weights_NRBTG = std::exchange(state->weights_NRBTG, {});
  if (weights != nullptr) {
    *weights = router.heads == 1 ? weights_NRBTG.squeeze(-1) : weights_NRBTG;
  }
  return out_RBTD;
}

}  // namespace leadline::model
