#include "model/methods/delta_attnres.h"

#include <string>
#include <utility>
#include <vector>

namespace leadline::model {
namespace {

using torch::Tensor;

class StatesPass final : public DepthPass {
 public:
  StatesPass(const Tensor& x_RBTD, const BlockGrid& grid, double eps,
             DeltaStream stream)
      : grid_(grid),
        eps_(eps),
        stream_(std::move(stream)),
        states_{{MakeSource(x_RBTD, eps, "e")}} {}

  Tensor Read(int64_t sublayer) override {
    if (sublayer == 0) return stream_.value_RBTD();
    std::vector<Candidate> candidates{states_[0]};
    candidates.insert(candidates.end(),
                      states_.begin() + 1 + grid_.first_read(sublayer),
                      states_.end());
    return stream_.Read(sublayer, candidates);
  }

  void Write(const Tensor& update_RBTD, int64_t sublayer) override {
    stream_.Add(update_RBTD);
    if (sublayer + 1 == grid_.sublayers) return;  // no router reads it
    states_.push_back({MakeSource(stream_.value_RBTD(), eps_,
                                  "h" + std::to_string(sublayer + 1))});
  }

  Tensor Finish() override { return stream_.value_RBTD(); }

 private:
  BlockGrid grid_;
  double eps_;
  DeltaStream stream_;
  std::vector<Candidate> states_;
};

}  // namespace

DeltaAttnRes::DeltaAttnRes(const spec::Settings& settings,
                           const MethodSizes& sizes, ParameterList& parameters)
    : updates_{MakeBlockGrid(settings, sizes.sublayers, 1), true},
      eps_(settings.Number("norm_eps")),
      of_states_(settings.Word("sources") == "states"),
      routers_(settings, updates_.Counts(), sizes.width, parameters) {}

std::unique_ptr<DepthPass> DeltaAttnRes::Begin(const Tensor& x_RBTD,
                                               RouterObserver* observer) const {
  DeltaStream stream = routers_.Begin(x_RBTD, observer);
  if (of_states_) {
    return std::make_unique<StatesPass>(x_RBTD, updates_.grid, eps_,
                                        std::move(stream));
  }
  return std::make_unique<DeltaBlockPass>(x_RBTD, updates_, UpdateBasis(), eps_,
                                          std::move(stream));
}

}  // namespace leadline::model
