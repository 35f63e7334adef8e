#include "model/layers/swiglu.h"

#include "model/layers/linear.h"

namespace leadline::model {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// silu(gate) * up. Keeps its two inputs alone; autograd would keep silu too.
class GateFunction : public torch::autograd::Function<GateFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& gate,
                        const Tensor& up) {
    context->save_for_backward({gate, up});
    return at::silu(gate).mul_(up);
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor& gate = saved[0];
    const Tensor& up = saved[1];
    // One statement each: the product is freed before the next is made.
    const Tensor dgate = at::silu_backward(gradients[0] * up, gate);
    const Tensor dup = at::silu(gate).mul_(gradients[0]);
    return {dgate, dup};
  }
};

}  // namespace

SwiGlu::SwiGlu(const std::string& prefix, const LayerShape& shape,
               const MatrixStd& std, ParameterList& parameters)
    : type_(shape.compute) {
  const ParameterGroup matrix{.decay = true};
  wg_RDF_ = parameters.Normal(prefix + ".wg", {shape.width, shape.hidden},
                              std.value, matrix);
  wu_RDF_ = parameters.Normal(prefix + ".wu", {shape.width, shape.hidden},
                              std.plain, matrix);
  wd_RFD_ = parameters.Normal(prefix + ".wd", {shape.hidden, shape.width},
                              std.out, matrix);
}

Tensor SwiGlu::Forward(const Tensor& y_RND) const {
  const Tensor input = y_RND.to(type_);
  const Tensor hidden_RNF = GateFunction::apply(Linear(input, wg_RDF_, type_),
                                                Linear(input, wu_RDF_, type_));
  return Linear(hidden_RNF, wd_RFD_, type_);
}

}  // namespace leadline::model
