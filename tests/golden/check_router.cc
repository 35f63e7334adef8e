// Kind router: one router, with its gradients. The file is held against the
// plain reference and against the real one, fused and portable.

#include "model/router/reference.h"
#include "model/router/route.h"
#include "tests/golden/kinds.h"

namespace leadline::golden {
namespace {

using torch::Tensor;

struct Inputs {
  std::vector<Tensor> v;
  Tensor w;
  Tensor g;
  Tensor b;
  Tensor s;
  Tensor null;
  Tensor null_logit;
};

Inputs Read(const GoldenFile& file, torch::ScalarType type) {
  const auto leaf = [&](const std::string& name) {
    return file.Has(name)
               ? file.Tensor(name).to(type).clone().requires_grad_(true)
               : Tensor();
  };
  Inputs inputs{{}, leaf("in.w"),    leaf("in.g"),         leaf("in.b"),
                {}, leaf("in.null"), leaf("in.null_logit")};
  if (file.Has("in.s")) inputs.s = file.Tensor("in.s").to(type);
  for (const Tensor& v : file.Tensor("in.v").to(type).unbind(0)) {
    inputs.v.push_back(v.clone().requires_grad_(true));
  }
  return inputs;
}

std::vector<model::Candidate> Candidates(const Inputs& inputs, double eps) {
  std::vector<model::Candidate> candidates;
  for (size_t j = 0; j < inputs.v.size(); ++j) {
    const auto index = static_cast<int64_t>(j);
    candidates.push_back(
        {.source = model::MakeSource(inputs.v[j], eps, "v"),
         .bias_column = inputs.b.defined() ? index : -1,
         .scale_RBT = inputs.s.defined() ? inputs.s[index] : Tensor()});
  }
  return candidates;
}

void Compare(const GoldenFile& file, const Inputs& inputs, const Tensor& out,
             const Tensor& weights, Tally& tally) {
  tally.Output("out", out, file.Tensor("out.out"));
  tally.Output("a", weights, file.Tensor("out.a"));
  out.backward(file.Tensor("in.dout").to(out.scalar_type()));
  double largest = 0;
  for (const auto& [name, gradient] : file.WithPrefix("grad.")) {
    largest = std::max(largest, gradient.norm().item<double>());
  }
  std::vector<Tensor> dv;
  for (const Tensor& v : inputs.v) dv.push_back(v.grad());
  tally.Gradient("v", torch::stack(dv), file.Tensor("grad.v"), largest);
  const std::pair<const char*, Tensor> parameters[] = {
      {"w", inputs.w},
      {"g", inputs.g},
      {"b", inputs.b},
      {"null", inputs.null},
      {"null_logit", inputs.null_logit},
  };
  for (const auto& [name, parameter] : parameters) {
    const std::string grad = std::string("grad.") + name;
    if (parameter.defined()) {
      tally.Gradient(name, parameter.grad(), file.Tensor(grad), largest);
    } else if (file.Has(grad)) {
      tally.Fail("the router has no " + grad);
    }
  }
}

}  // namespace

void CheckRouter(const GoldenFile& file, torch::ScalarType type, Tally& tally) {
  const nlohmann::json& config = file.config();
  const double eps = config.at("norm_eps").get<double>();
  const double null_eps = config.at("null_eps").get<double>();
  for (const bool plain : {true, false}) {
    const Inputs inputs = Read(file, type);
    const model::RouterKey router{
        .key_RD = inputs.w * inputs.g,
        .bias_RC = inputs.b,
        .heads = config.at("router_heads").get<int64_t>(),
        .null = {inputs.null, inputs.null_logit, null_eps}};
    const auto candidates = Candidates(inputs, eps);
    Tensor weights;
    const Tensor out =
        plain ? model::RouteReference(candidates, router, eps, &weights)
              : model::Route(candidates, router, &weights);
    Compare(file, inputs, out, weights, tally);
  }
}

}  // namespace leadline::golden
