#include "model/methods/prenorm.h"

namespace leadline::model {
namespace {

class Pass final : public DepthPass {
 public:
  explicit Pass(const torch::Tensor& x_RBTD) : h_RBTD_(x_RBTD) {}

  torch::Tensor Read(int64_t) override { return h_RBTD_; }
  void Write(const torch::Tensor& update_RBTD, int64_t) override {
    h_RBTD_ = h_RBTD_ + update_RBTD;
  }
  torch::Tensor Finish() override { return h_RBTD_; }

 private:
  torch::Tensor h_RBTD_;
};

}  // namespace

PreNorm::PreNorm(const spec::Settings&, const MethodSizes&, ParameterList&) {}

std::unique_ptr<DepthPass> PreNorm::Begin(const torch::Tensor& x_RBTD,
                                          RouterObserver*) const {
  return std::make_unique<Pass>(x_RBTD);
}

}  // namespace leadline::model
