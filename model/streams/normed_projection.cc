#include "model/streams/normed_projection.h"

namespace leadline::model {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// With r = 1 / sqrt(mean(x^2) + eps) and y = r (x w):
//   dx = r dy w^T - r^2 <dy, y> x / D,    dw = x^T (r dy).
class ProjectionFunction
    : public torch::autograd::Function<ProjectionFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x_RND,
                        const Tensor& w_RDC, double eps) {
    const auto width = static_cast<double>(x_RND.size(2));
    const Tensor r_RN1 =
        at::linalg_vector_norm(x_RND, 2, {{2}}, /*keepdim=*/true)
            .square_()
            .div_(width)
            .add_(eps)
            .rsqrt_();
    const Tensor y_RNC = torch::bmm(x_RND, w_RDC).mul_(r_RN1);
    context->save_for_backward({x_RND, w_RDC, r_RN1, y_RNC});
    return y_RNC;
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor& x_RND = saved[0];
    const Tensor& w_RDC = saved[1];
    const Tensor& r_RN1 = saved[2];
    const Tensor& y_RNC = saved[3];
    const auto width = static_cast<double>(x_RND.size(2));
    const Tensor share_RNC = gradients[0] * r_RN1;
    const Tensor pull_RN1 = (share_RNC * y_RNC).sum(2, true).mul_(r_RN1);
    Tensor dx_RND = torch::bmm(share_RNC, w_RDC.transpose(1, 2));
    dx_RND.addcmul_(pull_RN1, x_RND, -1 / width);
    return {dx_RND, torch::bmm(x_RND.transpose(1, 2), share_RNC), Tensor()};
  }
};

}  // namespace

Tensor NormedProjection(const Tensor& x_RND, const Tensor& w_RDC, double eps) {
  return ProjectionFunction::apply(x_RND, w_RDC, eps);
}

}  // namespace leadline::model
