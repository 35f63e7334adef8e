#include "model/methods/hyper_connections.h"

#include <string>

#include "model/methods/streams_pass.h"
#include "model/streams/normed_projection.h"

namespace leadline::model {

using torch::Tensor;

HyperConnections::HyperConnections(const spec::Settings& settings,
                                   const MethodSizes& sizes,
                                   ParameterList& parameters)
    : streams_(settings.Integer("streams")), eps_(settings.Number("norm_eps")) {
  constexpr ParameterGroup kGroup{.of_method = true};
  constexpr double kScale = 0.01;  // of the dynamic part
  for (int64_t l = 0; l < sizes.sublayers; ++l) {
    const std::string name = "hc." + std::to_string(l);
    const auto constant = [&](const char* of, torch::IntArrayRef shape,
                              double value) {
      return parameters.Constant(name + of, shape, value, kGroup);
    };
    Connections c;
    c.pre_RM = parameters.Given(name + ".pre0",
                                torch::eye(streams_)[l % streams_], kGroup);
    c.mixing_RMM = parameters.Given(name + ".A0", torch::eye(streams_), kGroup);
    c.post_RM = constant(".b0", {streams_}, 1);
    if (settings.IsOn("dynamic")) {
      c.wa_RDC = constant(".Wa", {sizes.width, streams_ + 1}, 0);
      c.wb_RD = constant(".Wb", {sizes.width}, 0);
      c.sa_R = constant(".sa", {}, kScale);
      c.sb_R = constant(".sb", {}, kScale);
      c.gain_RD = constant(".g", {sizes.width}, 1);
    }
    sublayers_.push_back(std::move(c));
  }
}

Tensor HyperConnections::Coefficients(const Connections& c,
                                      const Tensor& h_RBTMD) const {
  // Column 0 is pre, columns 1..M are A, the last one is post.
  const Tensor fixed_RMC = torch::cat(
      {c.pre_RM.unsqueeze(-1), c.mixing_RMM, c.post_RM.unsqueeze(-1)}, -1);
  const Tensor fixed_R11MC = fixed_RMC.unsqueeze(1).unsqueeze(1);
  if (!c.wa_RDC.defined()) {
    return fixed_R11MC.expand({-1, h_RBTMD.size(1), h_RBTMD.size(2), -1, -1})
        .contiguous();
  }
  // The gain joins the thin matrix, not the streams.
  const Tensor w_RDC = torch::cat({c.wa_RDC, c.wb_RD.unsqueeze(-1)}, -1) *
                       c.gain_RD.unsqueeze(-1);
  const torch::IntArrayRef sizes = h_RBTMD.sizes();
  const Tensor moved_RBTMC =
      NormedProjection(h_RBTMD.flatten(1, 3), w_RDC, eps_)
          .tanh()
          .view({sizes[0], sizes[1], sizes[2], streams_, streams_ + 2});
  const Tensor scale_RC = torch::cat(
      {c.sa_R.unsqueeze(-1).expand({-1, streams_ + 1}), c.sb_R.unsqueeze(-1)},
      -1);
  return torch::addcmul(fixed_R11MC, moved_RBTMC,
                        scale_RC.unsqueeze(1).unsqueeze(1).unsqueeze(1));
}

std::unique_ptr<DepthPass> HyperConnections::Begin(
    const Tensor& x_RBTD, RouterObserver* observer) const {
  return std::make_unique<StreamsPass>(
      x_RBTD, streams_, observer, [this](int64_t l, const Tensor& h_RBTMD) {
        return Coefficients(sublayers_.at(l), h_RBTMD);
      });
}

double HyperConnections::StreamScale(int64_t sublayer) const {
  const bool is_end = sublayer == static_cast<int64_t>(sublayers_.size());
  return is_end ? static_cast<double>(streams_) : 1;
}

}  // namespace leadline::model
