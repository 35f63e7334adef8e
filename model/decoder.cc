#include "model/decoder.h"

#include <cmath>
#include <string>

#include "model/layers/embedding.h"
#include "model/layers/linear.h"
#include "model/layers/norm.h"
#include "model/methods/registry.h"

namespace leadline::model {
namespace {

using torch::Tensor;

LayerShape ShapeOf(const spec::Settings& settings,
                   const torch::TensorOptions& options) {
  const bool narrow = settings.Word("precision") == "bf16";
  return {.width = settings.Integer("d_model"),
          .heads = settings.Integer("n_heads"),
          .kv_heads = settings.Integer("n_kv_heads"),
          .hidden = settings.Integer("d_ff"),
          .qk_norm = settings.IsOn("qk_norm"),
          .norm_eps = settings.Number("norm_eps"),
          .compute = narrow ? torch::kBFloat16
                            : c10::typeMetaToScalarType(options.dtype())};
}

std::string LayerName(int64_t i) { return "layers." + std::to_string(i); }

}  // namespace

Decoder::Decoder(const spec::Settings& settings, int64_t vocabulary,
                 const std::vector<int64_t>& seeds,
                 const torch::TensorOptions& options)
    : shape_(ShapeOf(settings, options)),
      compensated_(settings.Word("eps_mode") == "compensated"),
      dropout_(settings.Number("dropout")),
      parameters_(seeds, options),
      rotary_(MakeRotaryTable(settings.Integer("context"), shape_.head_width(),
                              settings.Number("rope_theta"), options)) {
  TORCH_CHECK(vocabulary > 0, "a vocabulary of ", vocabulary);
  const double std = settings.Number("init_std");
  ParameterList of_method(seeds, options);
  value_residual_.emplace(settings, of_method);
  method_ = MakeMethod(
      settings, {.sublayers = 2 * settings.depth(), .width = shape_.width},
      of_method);
  const NormPlacement norms = method_->norms();
  embed_RVD_ = parameters_.Normal("embed", {vocabulary, shape_.width}, std, {});
  MakeLayers(settings, norms);
  if (norms.before_head) {
    final_gain_RD_ =
        parameters_.Constant("final.norm.g", {shape_.width}, 1, {});
  }
  if (!settings.IsOn("tied_head")) {
    head_RDV_ = parameters_.Normal("head", {shape_.width, vocabulary}, std,
                                   {.decay = true});
  }
  parameters_.Append(of_method);
}

void Decoder::MakeLayers(const spec::Settings& settings,
                         const NormPlacement& norms) {
  const double std = settings.Number("init_std");
  const double sublayers = 2 * static_cast<double>(settings.depth());
  const double out_std = settings.Word("residual_init") == "scaled"
                             ? std / std::sqrt(sublayers)
                             : std;
  const double divisor = method_->branch_divisor();
  const MatrixStd stds{
      .plain = std, .value = std / divisor, .out = out_std / divisor};
  const auto gain = [&](const std::string& name) {
    return norms.before_sublayers
               ? parameters_.Constant(name, {shape_.width}, 1, {})
               : Tensor();
  };
  for (int64_t i = 0; i < settings.depth(); ++i) {
    const std::string attention = LayerName(i) + ".attn";
    const std::string mlp = LayerName(i) + ".mlp";
    layers_.push_back({gain(attention + ".norm.g"),
                       Attention(attention, shape_, stds, parameters_),
                       gain(mlp + ".norm.g"),
                       SwiGlu(mlp, shape_, stds, parameters_)});
  }
}

Tensor Decoder::Norm(int64_t l, const Tensor& x_RBTD,
                     const Tensor& gain_RD) const {
  if (!gain_RD.defined()) return x_RBTD;
  const double scale = compensated_ ? method_->StreamScale(l) : 1;
  return RmsNorm(x_RBTD, gain_RD, shape_.norm_eps * scale * scale);
}

Tensor Decoder::Sublayer(int64_t l, const Tensor& x_RBTD,
                         const RotaryTable& table, const Dropout& dropout,
                         ValuePass& values) const {
  const Layer& layer = layers_[l / 2];
  Tensor update_RBTD;
  if (l % 2 == 0) {
    update_RBTD = layer.attention.Forward(
        Norm(l, x_RBTD, layer.attention_gain_RD), table, dropout, &values);
  } else {
    const Tensor y_RBTD = Norm(l, x_RBTD, layer.mlp_gain_RD);
    update_RBTD = layer.mlp.Forward(y_RBTD.flatten(1, 2)).view(x_RBTD.sizes());
  }
  update_RBTD = update_RBTD.to(WideType(shape_.compute));
  if (!dropout.active()) return update_RBTD;
  return dropout.Apply(
      LayerName(l / 2) + (l % 2 == 0 ? ".attn.out" : ".mlp.out"), update_RBTD);
}

Tensor Decoder::Head(const Tensor& out_RBTD) const {
  const Tensor y_RND =
      Norm(2 * static_cast<int64_t>(layers_.size()), out_RBTD, final_gain_RD_)
          .flatten(1, 2);
  const Tensor head_RDV =
      head_RDV_.defined() ? head_RDV_ : embed_RVD_.transpose(1, 2);
  return Linear(y_RND, head_RDV, shape_.compute)
      .view({out_RBTD.size(0), out_RBTD.size(1), out_RBTD.size(2), -1})
      .to(WideType(shape_.compute));
}

Tensor Decoder::Forward(const Tensor& tokens_RBT,
                        const ForwardOptions& options) const {
  TORCH_CHECK(tokens_RBT.dim() == 3 && tokens_RBT.size(0) == replicas() &&
                  tokens_RBT.size(2) <= rotary_.cosine_TK.size(0),
              "tokens of shape ", tokens_RBT.sizes(), " for ", replicas(),
              " replicas and a context of ", rotary_.cosine_TK.size(0));
  const int64_t tokens = tokens_RBT.size(2);
  const RotaryTable table{rotary_.cosine_TK.narrow(0, 0, tokens),
                          rotary_.sine_TK.narrow(0, 0, tokens)};
  Dropout dropout;
  if (options.training) {
    dropout = {&parameters_.seeds(), dropout_, options.step,
               options.first_sequence};
  }
  const Tensor e_RBTD = dropout.Apply("embed", Embed(embed_RVD_, tokens_RBT));
  if (options.observer != nullptr) options.observer->OnEmbeddings(e_RBTD);
  const std::unique_ptr<DepthPass> pass =
      method_->Begin(e_RBTD, options.observer);
  ValuePass values = value_residual_->Begin();
  for (int64_t l = 0; l < 2 * static_cast<int64_t>(layers_.size()); ++l) {
    const Tensor x_RBTD = pass->Read(l);
    const Tensor u_RBTD = Sublayer(l, x_RBTD, table, dropout, values);
    if (options.observer != nullptr) {
      options.observer->OnSublayer(l, x_RBTD, u_RBTD);
    }
    pass->Write(u_RBTD, l);
  }
  return Head(pass->Finish());
}

}  // namespace leadline::model
