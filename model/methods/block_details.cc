#include "model/methods/block_details.h"

#include <utility>

namespace leadline::model {
namespace {

using torch::Tensor;

class Pass final : public DepthPass {
 public:
  Pass(const Tensor& x_RBTD, const BlockGrid& grid,
       std::vector<BlockBasis> bases, double eps, double rho,
       RouterPass routers, std::vector<Tensor> biases_RC)
      : grid_(grid),
        rho_(rho),
        sources_(x_RBTD, grid, std::move(bases), eps),
        routers_(std::move(routers)),
        biases_RC_(std::move(biases_RC)) {}

  Tensor Read(int64_t sublayer) override {
    const bool details = !biases_RC_.empty() && sublayer != grid_.sublayers;
    std::vector<Candidate> candidates{{sources_.embedding()}};
    for (size_t b = grid_.first_read(sublayer); b < sources_.blocks().size();
         ++b) {
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

  Tensor Finish() override { return Read(grid_.sublayers); }

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

  BlockGrid grid_;
  double rho_;
  BlockSources sources_;
  std::vector<std::vector<Tensor>> scales_RBT_;  // a list a block
  RouterPass routers_;
  std::vector<Tensor> biases_RC_;  // one a router; empty: no details
};

/// The readout sees no details. A last block too short to have any is read by
/// the readout alone.
std::vector<int64_t> Counts(const BlockGrid& grid, size_t details) {
  std::vector<int64_t> counts =
      CountSources(grid, 1 + static_cast<int64_t>(details));
  counts.back() = CountSources(grid, 1).back();
  return counts;
}

}  // namespace

DetailBiasMode DetailBiasModeOf(const spec::Settings& settings) {
  const std::string& mode = settings.Word("detail_bias_mode");
  if (mode == "shared") return DetailBiasMode::kShared;
  return mode == "fixed" ? DetailBiasMode::kFixed : DetailBiasMode::kPerRouter;
}

bool HasDetails(const spec::Settings& settings) {
  return settings.IsOn("details") &&
         settings.NumberUnlessWord("detail_bias").has_value();
}

BlockDetails::BlockDetails(const spec::Settings& settings,
                           const MethodSizes& sizes, ParameterList& parameters,
                           const Form& form)
    : grid_(MakeBlockGrid(settings, sizes.sublayers,
                          settings.Integer("block_sublayers"))),
      eps_(settings.Number("norm_eps")),
      rho_(settings.Number("rho")),
      bases_{PlainBasis()},
      routers_(settings,
               Counts(grid_, HasDetails(settings) ? form.details.size() : 0),
               sizes.width, parameters),
      bias_mode_(form.bias_mode),
      only_detail_(form.only_detail) {
  if (!HasDetails(settings)) return;
  bases_.insert(bases_.end(), form.details.begin(), form.details.end());
  std::vector<int64_t> shape;
  if (bias_mode_ != DetailBiasMode::kShared) shape.push_back(sizes.sublayers);
  if (!only_detail_) {
    shape.push_back(static_cast<int64_t>(form.details.size()));
  }
  const double start = settings.Number("detail_bias");
  beta_ = bias_mode_ == DetailBiasMode::kFixed
              ? parameters.ConstantBuffer(form.bias_name, shape, start)
              : parameters.Constant(form.bias_name, shape, start,
                                    {.of_method = true});
}

std::vector<Tensor> BlockDetails::Biases() const {
  if (!beta_.defined()) return {};
  const Tensor beta = only_detail_ ? beta_.unsqueeze(-1) : beta_;
  if (bias_mode_ != DetailBiasMode::kShared) return beta.unbind(1);
  return std::vector<Tensor>(grid_.sublayers, beta);
}

std::unique_ptr<DepthPass> BlockDetails::Begin(const Tensor& x_RBTD,
                                               RouterObserver* observer) const {
  return std::make_unique<Pass>(x_RBTD, grid_, bases_, eps_, rho_,
                                routers_.Begin(observer), Biases());
}

double BlockDetails::StreamScale(int64_t sublayer) const {
  return 1.0 / static_cast<double>(1 + grid_.begun(sublayer));
}

}  // namespace leadline::model
