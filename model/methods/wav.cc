#include "model/methods/wav.h"

#include <utility>

namespace leadline::model {
namespace {

using torch::Tensor;

/// Attention sublayers are the even ones, and blocks are whole layers.
double PhaseSign(int64_t i, int64_t) { return i % 2 == 0 ? 1 : -1; }

double SplitSign(int64_t i, int64_t length) {
  if (i < length / 2) return 1;
  return i >= length - length / 2 ? -1 : 0;
}

std::vector<BlockBasis> Bases(bool details) {
  if (!details) return {PlainBasis()};
  return {
      PlainBasis(), {"Dphi", "Pphi", &PhaseSign}, {"Dsig", "Psig", &SplitSign}};
}

bool HasDetails(const spec::Settings& settings) {
  return settings.IsOn("details") &&
         settings.NumberUnlessWord("detail_bias").has_value();
}

class Pass final : public DepthPass {
 public:
  Pass(const Tensor& x_RBTD, const BlockGrid& grid, double eps, double rho,
       RouterPass routers, std::vector<Tensor> biases_RC)
      : readout_(grid.sublayers),
        rho_(rho),
        sources_(x_RBTD, grid, Bases(!biases_RC.empty()), eps),
        routers_(std::move(routers)),
        biases_RC_(std::move(biases_RC)) {}

  Tensor Read(int64_t sublayer) override {
    const bool details = !biases_RC_.empty() && sublayer != readout_;
    std::vector<Candidate> candidates{{sources_.embedding()}};
    for (size_t b = 0; b < sources_.blocks().size(); ++b) {
      const std::vector<Source>& block = sources_.blocks()[b];
      candidates.push_back({block[0]});
      for (size_t k = 1; details && k < block.size(); ++k) {
        candidates.push_back(
            {block[k], static_cast<int64_t>(k) - 1, scales_RBT_[b][k - 1]});
      }
    }
    return routers_.Route(sublayer, candidates,
                          details ? biases_RC_.at(sublayer) : Tensor());
  }

  void Write(const Tensor& update_RBTD, int64_t sublayer) override {
    sources_.Write(update_RBTD, sublayer);
    scales_RBT_.resize(sources_.blocks().size());
    scales_RBT_.back() = Scales(sources_.blocks().back());
  }

  Tensor Finish() override { return Read(readout_); }

 private:
  /// min(rms(C)/rms(D), rho) of each detail D, outside autograd.
  std::vector<Tensor> Scales(const std::vector<Source>& block) const {
    const torch::NoGradGuard no_grad;
    std::vector<Tensor> scales_RBT;
    for (size_t k = 1; k < block.size(); ++k) {
      scales_RBT.push_back((block[k].inverse_rms_RBT / block[0].inverse_rms_RBT)
                               .clamp_max_(rho_));
    }
    return scales_RBT;
  }

  int64_t readout_;
  double rho_;
  BlockSources sources_;
  std::vector<std::vector<Tensor>> scales_RBT_;  // a list a block
  RouterPass routers_;
  std::vector<Tensor> biases_RC_;  // one a router; empty: no details
};

}  // namespace

Wav::Wav(const spec::Settings& settings, const MethodSizes& sizes,
         ParameterList& parameters)
    : grid_{sizes.sublayers, settings.Integer("block_sublayers")},
      eps_(settings.Number("norm_eps")),
      rho_(settings.Number("rho")),
      routers_(settings, sizes.sublayers + 1, sizes.width, parameters) {
  TORCH_CHECK(grid_.block_sublayers % 2 == 0 && grid_.block_sublayers >= 4,
              "wav needs blocks of whole layers, two at least, not of ",
              grid_.block_sublayers, " sublayers");
  if (!HasDetails(settings)) return;
  const double start = settings.Number("detail_bias");
  const std::string& mode = settings.Word("detail_bias_mode");
  if (mode == "shared") {
    beta_ = parameters.Constant("wav.beta", {2}, start, {.of_method = true});
  } else if (mode == "fixed") {
    beta_ = parameters.ConstantBuffer("wav.beta", {sizes.sublayers, 2}, start);
  } else {
    beta_ = parameters.Constant("wav.beta", {sizes.sublayers, 2}, start,
                                {.of_method = true});
  }
}

std::vector<Tensor> Wav::Biases() const {
  if (!beta_.defined()) return {};
  if (beta_.dim() == 3) return beta_.unbind(1);
  return std::vector<Tensor>(grid_.sublayers, beta_);
}

std::unique_ptr<DepthPass> Wav::Begin(const Tensor& x_RBTD,
                                      RouterObserver* observer) const {
  return std::make_unique<Pass>(x_RBTD, grid_, eps_, rho_,
                                routers_.Begin(observer), Biases());
}

double Wav::StreamScale(int64_t sublayer) const {
  return 1.0 / static_cast<double>(1 + grid_.begun(sublayer));
}

}  // namespace leadline::model
