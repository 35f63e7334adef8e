// Kind wiring: a method without its backbone. Sublayers are injected:
// tanh(norm(x) W_l).

#include "model/methods/registry.h"
#include "tests/golden/golden_settings.h"
#include "tests/golden/kinds.h"

namespace leadline::golden {
namespace {

using torch::Tensor;

Tensor Sublayer(const Tensor& x_RBTD, const Tensor& w_RDD, double eps,
                bool normed) {
  const Tensor y_RBTD =
      normed ? x_RBTD * (x_RBTD.square().mean(-1, true) + eps).rsqrt() : x_RBTD;
  return torch::einsum("rbti,rio->rbto", {y_RBTD, w_RDD}).tanh();
}

}  // namespace

void CheckWiring(const GoldenFile& file, torch::ScalarType type, Tally& tally) {
  const spec::Settings settings = SettingsOf(file);
  const auto leaf = [&](const std::string& name) {
    return file.Tensor(name).to(type).clone().requires_grad_(true);
  };
  const Tensor e_RBTD = leaf("in.e");
  const Tensor w_RLDD = leaf("in.W");
  const int64_t sublayers = w_RLDD.size(1);
  model::ParameterList parameters(std::vector<int64_t>(e_RBTD.size(0), 1),
                                  type);
  const auto method = model::MakeMethod(
      settings, {.sublayers = sublayers, .width = e_RBTD.size(3)}, parameters);
  for (const auto& [name, value] : file.WithPrefix("param.")) {
    parameters.Set(name, value);
  }

  std::vector<Tensor> reads;
  const auto pass = method->Begin(e_RBTD, nullptr);
  for (int64_t l = 0; l < sublayers; ++l) {
    const Tensor x_RBTD = pass->Read(l);
    reads.push_back(x_RBTD.detach());
    pass->Write(
        Sublayer(x_RBTD, w_RLDD.select(1, l), settings.Number("norm_eps"),
                 method->norms().before_sublayers),
        l);
  }
  const Tensor out_RBTD = pass->Finish();
  const Tensor loss_R =
      (out_RBTD * file.Tensor("in.c").to(type)).sum({1, 2, 3});
  tally.Output("x", torch::stack(reads), file.Tensor("out.x"));
  tally.Output("out", out_RBTD, file.Tensor("out.out"));
  tally.Output("loss", loss_R, file.Tensor("out.loss"));

  loss_R.sum().backward();
  std::map<std::string, Tensor> got = {{"e", e_RBTD.grad()},
                                       {"W", w_RLDD.grad()}};
  for (const model::NamedParameter& parameter : parameters.trained()) {
    got[parameter.name] = parameter.tensor.grad();
  }
  const auto wanted = file.WithPrefix("grad.");
  double largest = 0;
  for (const auto& [name, gradient] : wanted) {
    largest = std::max(largest, gradient.norm().item<double>());
  }
  for (const auto& [name, gradient] : wanted) {
    if (!got.contains(name)) {
      tally.Fail("the method has no parameter " + name);
    } else {
      tally.Gradient("gradient of " + name, got[name], gradient, largest);
    }
  }
}

}  // namespace leadline::golden
