#include "model/methods/null_sources.h"

namespace leadline::model {

NullSources::NullSources(const spec::Settings& settings, int64_t routers,
                         int64_t width, ParameterList& parameters)
    : routers_(routers), eps_(settings.Number("null_eps")) {
  const std::string& kind = settings.Word("null_source");
  const ParameterGroup group{.of_method = true,
                             .rate = settings.Number("null_lr_mult")};
  if (kind == "logit") {
    logit_Rn_ = parameters.Constant("router.null_logit", {routers_}, 0, group);
  } else if (kind == "vector") {
    null_RnD_ = parameters.Constant("router.null", {routers_, width}, 0, group);
  }
}

std::vector<NullSource> NullSources::Begin() const {
  std::vector<NullSource> result(routers_);
  if (!exist()) return result;
  const std::vector<torch::Tensor> parts =
      (logit_Rn_.defined() ? logit_Rn_ : null_RnD_).unbind(1);
  for (int64_t q = 0; q < routers_; ++q) {
    (logit_Rn_.defined() ? result[q].logit_R : result[q].value_RD) = parts[q];
    result[q].eps = eps_;
  }
  return result;
}

}  // namespace leadline::model
