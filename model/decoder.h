// The decoder: embeddings, 2L sublayers joined by a method, norm and head.
//
// Shape suffixes: R replicas, B sequences, T tokens, D width, V vocabulary.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <torch/torch.h>

#include "model/layers/attention.h"
#include "model/layers/rotary.h"
#include "model/layers/shapes.h"
#include "model/layers/swiglu.h"
#include "model/layers/value_residual.h"
#include "model/losses.h"
#include "model/methods/method.h"
#include "model/parameters.h"
#include "model/router/observer.h"
#include "model/spec/settings.h"

namespace leadline::model {

struct ForwardOptions {
  /// True: dropout is on.
  bool training = false;
  /// Step and place in the global batch that dropout masks are drawn for.
  int64_t step = 0;
  int64_t first_sequence = 0;
  /// Sees the pass; null costs nothing. Outlives the call.
  RouterObserver* observer = nullptr;
};

/// R independent models of one configuration, one a seed. Forward may run
/// concurrently with itself, not with changes of parameters.
class Decoder {
 public:
  /// Draws the initial values from the named streams of `seeds`: in double,
  /// rounded once to float32, then converted to the type and device of
  /// `options`. Settings are resolved ones.
  Decoder(const spec::Settings& settings, int64_t vocabulary,
          const std::vector<int64_t>& seeds,
          const torch::TensorOptions& options = torch::kFloat32);

  /// Logits [R, B, T, V] for int64 tokens in [0, V), T at most `context`.
  torch::Tensor Forward(const torch::Tensor& tokens_RBT,
                        const ForwardOptions& options = {}) const;

  /// Trained parameters, base before method; their tensors stay the same ones.
  const std::vector<NamedParameter>& parameters_in_order() const {
    return parameters_.trained();
  }
  /// Named tensors that are not trained.
  const std::vector<NamedParameter>& buffers_in_order() const {
    return parameters_.buffers();
  }

  /// Copies a value into a parameter or buffer. Throws c10::Error for an
  /// unknown name or another shape.
  void SetParameter(std::string_view name, const torch::Tensor& value) {
    parameters_.Set(name, value);
  }

  int64_t replicas() const {
    return static_cast<int64_t>(parameters_.seeds().size());
  }

 private:
  struct Layer {
    torch::Tensor attention_gain_RD;  // undefined without norms
    Attention attention;
    torch::Tensor mlp_gain_RD;
    SwiGlu mlp;
  };

  void MakeLayers(const spec::Settings& settings, const NormPlacement& norms);
  torch::Tensor Sublayer(int64_t l, const torch::Tensor& x_RBTD,
                         const RotaryTable& table, const Dropout& dropout,
                         ValuePass& values) const;
  torch::Tensor Norm(int64_t l, const torch::Tensor& x_RBTD,
                     const torch::Tensor& gain_RD) const;
  torch::Tensor Head(const torch::Tensor& out_RBTD) const;

  LayerShape shape_;
  bool compensated_;
  double dropout_;
  ParameterList parameters_;
  std::unique_ptr<ResidualMethod> method_;
  std::optional<ValueResidual> value_residual_;
  RotaryTable rotary_;
  torch::Tensor embed_RVD_;
  std::vector<Layer> layers_;
  torch::Tensor final_gain_RD_;  // undefined without that norm
  torch::Tensor head_RDV_;       // undefined: tied
};

}  // namespace leadline::model
