#include "model/methods/delta_block_repo.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace leadline::model {
namespace {

using torch::Tensor;

/// Sources of router l beside h_0, without a window.
int64_t Begun(const BlockGrid& grid, int64_t l) {
  return (l - 1) / grid.block_sublayers;
}

int64_t FirstRead(const BlockGrid& grid, int64_t l) {
  return std::max<int64_t>(0, Begun(grid, l) - grid.window);
}

std::vector<int64_t> Counts(const BlockGrid& grid) {
  std::vector<int64_t> counts{0};
  for (int64_t l = 1; l < grid.sublayers; ++l) {
    counts.push_back(1 + Begun(grid, l) - FirstRead(grid, l));
  }
  return counts;
}

class Pass final : public DepthPass {
 public:
  Pass(const BlockGrid& grid, double eps, DeltaStream stream)
      : grid_(grid), eps_(eps), stream_(std::move(stream)) {}

  Tensor Read(int64_t sublayer) override {
    if (sources_.empty()) return stream_.value_RBTD();
    std::vector<Candidate> candidates{sources_[0]};
    candidates.insert(candidates.end(),
                      sources_.begin() + 1 + FirstRead(grid_, sublayer),
                      sources_.end());
    return stream_.Read(sublayer, candidates);
  }

  void Write(const Tensor& update_RBTD, int64_t sublayer) override {
    if (sublayer % grid_.block_sublayers == 0) AppendSource();
    stream_.Add(update_RBTD);
  }

  Tensor Finish() override { return stream_.value_RBTD(); }

 private:
  /// Of the stream before the sublayer that begins a block.
  void AppendSource() {
    const Tensor& h_RBTD = stream_.value_RBTD();
    if (sources_.empty()) {
      sources_.push_back({MakeSource(h_RBTD, eps_, "e")});
      return;
    }
    const std::string label = "C" + std::to_string(sources_.size() - 1);
    const Tensor& last_RBTD = sources_.back().source.value_RBTD;
    sources_.push_back({MakeSource(h_RBTD - last_RBTD, eps_, label)});
  }

  BlockGrid grid_;
  double eps_;
  DeltaStream stream_;
  std::vector<Candidate> sources_;
};

}  // namespace

DeltaBlockRepo::DeltaBlockRepo(const spec::Settings& settings,
                               const MethodSizes& sizes,
                               ParameterList& parameters)
    : grid_(MakeBlockGrid(settings, sizes.sublayers,
                          settings.Integer("block_sublayers"))),
      eps_(settings.Number("norm_eps")),
      routers_(settings, Counts(grid_), sizes.width, parameters) {
  TORCH_CHECK(grid_.block_sublayers % 2 == 0,
              "delta_block_repo needs blocks of whole layers, not of ",
              grid_.block_sublayers, " sublayers");
}

std::unique_ptr<DepthPass> DeltaBlockRepo::Begin(
    const Tensor& x_RBTD, RouterObserver* observer) const {
  return std::make_unique<Pass>(grid_, eps_, routers_.Begin(x_RBTD, observer));
}

}  // namespace leadline::model
