#include "model/methods/mhar.h"

#include "model/methods/attnres.h"
#include "model/methods/block_attnres.h"

namespace leadline::model {

Mhar::Mhar(const spec::Settings& settings, const MethodSizes& sizes,
           ParameterList& parameters) {
  if (settings.Word("base") == "block") {
    base_ = std::make_unique<BlockAttnRes>(settings, sizes, parameters);
  } else {
    base_ = std::make_unique<AttnRes>(settings, sizes, parameters);
  }
}

}  // namespace leadline::model
