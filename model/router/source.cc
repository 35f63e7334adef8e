#include "model/router/source.h"

#include <algorithm>
#include <utility>

#include "model/layers/cpu_loop.h"
#include "model/router/source_kernel.h"

namespace leadline::model {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// What forward and backward of one AddUpdate share beside tensors of the
/// graph.
struct Addition : torch::CustomClassHolder {
  std::vector<std::shared_ptr<SourceGradient>> before;
  std::vector<std::shared_ptr<SourceGradient>> after;
  std::vector<double> signs;
  std::vector<Tensor> signs_R;          // undefined: the number in `signs`
  std::vector<Tensor> inverse_rms_RBT;  // filled by forward
  double eps = 0;

  bool IsUpdateItself(size_t k) const {
    return before.empty() && !signs_R[k].defined() && signs[k] == 1;
  }
};

/// [R] to [R, 1, 1, 1].
Tensor OverTokens(const Tensor& sign_R) { return sign_R.view({-1, 1, 1, 1}); }

struct Sum {
  Tensor value_RBTD;
  Tensor inverse_rms_RBT;
};

/// Calls `loop`(first, last, sign) over sequences [first, last) cut where
/// replicas end, or once where all have the same sign.
template <typename Scalar, typename Loop>
void EachSign(const Addition& addition, size_t k, int64_t sequences_a_replica,
              int64_t first, int64_t last, const Loop& loop) {
  const Tensor& sign_R = addition.signs_R[k];
  if (!sign_R.defined()) return loop(first, last, addition.signs[k]);
  const auto* const signs = sign_R.const_data_ptr<Scalar>();
  while (first < last) {
    const int64_t replica = first / sequences_a_replica;
    const int64_t end = std::min(last, (replica + 1) * sequences_a_replica);
    loop(first, end, static_cast<double>(signs[replica * sign_R.stride(0)]));
    first = end;
  }
}

Sum AddOnCpu(const Addition& addition, size_t k, const Tensor& before,
             const Tensor& update) {
  // Without a sum before it the update itself is the source.
  const bool same = addition.IsUpdateItself(k);
  Sum result{same ? update : torch::empty_like(update),
             torch::empty(update.sizes().slice(0, 3), update.options())};
  const int64_t width = update.size(3);
  const int64_t tokens = update.size(2);
  AT_DISPATCH_FLOATING_TYPES(update.scalar_type(), "AddUpdate", [&] {
    const auto* from =
        before.defined() ? before.const_data_ptr<scalar_t>() : nullptr;
    const auto* u = update.const_data_ptr<scalar_t>();
    auto* sum = same ? nullptr : result.value_RBTD.data_ptr<scalar_t>();
    auto* r = result.inverse_rms_RBT.data_ptr<scalar_t>();
    EachSequence(update, [&](int64_t first, int64_t last) {
      const auto add = [&](int64_t begin, int64_t end, double sign) {
        AddToSource(width, begin * tokens, end * tokens, from, u, sign,
                    addition.eps, sum, r);
      };
      EachSign<scalar_t>(addition, k, update.size(1), first, last, add);
    });
  });
  return result;
}

/// before + sign_k * values; `before` may be undefined.
Tensor AddSigned(const Addition& addition, size_t k, const Tensor& before,
                 const Tensor& values) {
  const Tensor& sign_R = addition.signs_R[k];
  const double sign = addition.signs[k];
  if (sign_R.defined()) {
    return before.defined() ? torch::addcmul(before, values, OverTokens(sign_R))
                            : values * OverTokens(sign_R);
  }
  if (before.defined()) return torch::add(before, values, sign);
  return sign == 1 ? values : values * sign;
}

Sum AddAnywhere(const Addition& addition, size_t k, const Tensor& before,
                const Tensor& update) {
  Tensor value = AddSigned(addition, k, before, update);
  return {value, (value.square().mean(-1) + addition.eps).rsqrt()};
}

void AddSignedTo(Tensor& total, const Addition& addition, size_t k,
                 const Tensor& values) {
  const Tensor& sign_R = addition.signs_R[k];
  if (sign_R.defined()) {
    total.addcmul_(values, OverTokens(sign_R));
  } else {
    total.add_(values, addition.signs[k]);
  }
}

/// Index of an earlier sum with the same bits as sum k, or k.
size_t FirstEqual(const Addition& addition, const std::vector<Tensor>& before,
                  size_t k) {
  if (addition.signs_R[k].defined()) return k;
  for (size_t i = 0; i < k; ++i) {
    if (addition.signs_R[i].defined()) continue;
    const bool same_before = before.empty() || before[i].const_data_ptr() ==
                                                   before[k].const_data_ptr();
    if (same_before && addition.signs[i] == addition.signs[k]) return i;
  }
  return k;
}

/// What routers and other readers sent to sum k; undefined if nothing.
Tensor TakeGradient(SourceGradient& gradient, const Tensor& direct,
                    bool* shared) {
  Tensor sum = std::exchange(gradient.sum_RBTD, {});
  *shared = std::exchange(gradient.shared, false);
  if (!direct.defined()) return sum;
  if (sum.defined()) {
    *shared = false;
    return sum + direct;
  }
  *shared = true;
  return direct;
}

void GiveGradient(SourceGradient& to, const Tensor& sum, bool shared) {
  if (to.sum_RBTD.defined()) {
    to.sum_RBTD = to.sum_RBTD + sum;
    to.shared = false;
  } else {
    to.sum_RBTD = sum;
    to.shared = shared;
  }
}

class AddUpdateFunction : public torch::autograd::Function<AddUpdateFunction> {
 public:
  static variable_list forward(AutogradContext* context,
                               const c10::intrusive_ptr<Addition>& addition,
                               const Tensor& update, torch::TensorList list) {
    const std::vector<Tensor> before = list.vec();
    const Tensor u_RBTD = update.contiguous();
    context->set_materialize_grads(false);
    context->saved_data["addition"] = c10::IValue::make_capsule(addition);
    variable_list values;
    for (size_t k = 0; k < addition->signs.size(); ++k) {
      const size_t same = FirstEqual(*addition, before, k);
      if (same < k) {
        values.push_back(values[same].variable_data());
        addition->inverse_rms_RBT.push_back(addition->inverse_rms_RBT[same]);
        continue;
      }
      const Tensor from = before.empty() ? Tensor() : before[k];
      const auto add = HasCpuLoops(u_RBTD) ? &AddOnCpu : &AddAnywhere;
      const Sum sum = add(*addition, k, from, u_RBTD);
      values.push_back(sum.value_RBTD.variable_data());
      addition->inverse_rms_RBT.push_back(sum.inverse_rms_RBT);
    }
    return values;
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const auto addition = c10::static_intrusive_pointer_cast<Addition>(
        context->saved_data["addition"].toCapsule());
    const bool needs_update = context->needs_input_grad(0);
    Tensor du_RBTD;
    bool du_is_ours = false;
    for (size_t k = 0; k < gradients.size(); ++k) {
      bool shared = false;
      const Tensor sum =
          TakeGradient(*addition->after[k], gradients[k], &shared);
      if (!sum.defined()) continue;
      const bool passes_on =
          !addition->before.empty() && context->needs_input_grad(1 + k);
      if (needs_update) {
        if (!du_RBTD.defined()) {
          du_RBTD = AddSigned(*addition, k, {}, sum);
          const bool same = du_RBTD.is_same(sum);
          du_is_ours = !same || (!passes_on && !shared);
          shared = shared || same;
        } else if (du_is_ours) {
          AddSignedTo(du_RBTD, *addition, k, sum);
        } else {
          du_RBTD = AddSigned(*addition, k, du_RBTD, sum);
          du_is_ours = true;
        }
      }
      if (passes_on) GiveGradient(*addition->before[k], sum, shared);
    }
    variable_list result(2 + addition->before.size());
    result[1] = du_RBTD;
    return result;
  }
};

}  // namespace

Source MakeSource(const Tensor& value_RBTD, double eps, std::string label) {
  return AddUpdate({}, value_RBTD, {{1, std::move(label)}}, eps)[0];
}

std::vector<Source> AddUpdate(const std::vector<Source>& before,
                              const Tensor& update_RBTD,
                              const std::vector<SignedSum>& sums, double eps) {
  TORCH_CHECK(update_RBTD.dim() == 4, "a source is [R, B, T, D], not ",
              update_RBTD.sizes());
  auto addition = c10::make_intrusive<Addition>();
  addition->eps = eps;
  std::vector<Tensor> values;
  for (const Source& source : before) {
    values.push_back(source.value_RBTD);
    addition->before.push_back(source.gradient);
  }
  for (const SignedSum& sum : sums) {
    addition->signs.push_back(sum.sign);
    addition->signs_R.push_back(sum.sign_R);
    addition->after.push_back(std::make_shared<SourceGradient>());
  }
  const variable_list outputs = AddUpdateFunction::apply(
      addition, update_RBTD, torch::TensorList(values));
  std::vector<Source> result;
  for (size_t k = 0; k < sums.size(); ++k) {
    result.push_back({outputs[k], addition->inverse_rms_RBT[k],
                      addition->after[k], sums[k].label});
  }
  return result;
}

}  // namespace leadline::model
