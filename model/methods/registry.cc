#include "model/methods/registry.h"

#include <algorithm>
#include <array>

#include "model/methods/attnres.h"
#include "model/methods/block_attnres.h"
#include "model/methods/block_layerscale.h"
#include "model/methods/deepnorm.h"
#include "model/methods/delta_attnres.h"
#include "model/methods/delta_block.h"
#include "model/methods/delta_block_repo.h"
#include "model/methods/denseformer.h"
#include "model/methods/haares.h"
#include "model/methods/hyper_connections.h"
#include "model/methods/layerscale.h"
#include "model/methods/mhar.h"
#include "model/methods/mhc.h"
#include "model/methods/prenorm.h"
#include "model/methods/rezero.h"
#include "model/methods/wav.h"

namespace leadline::model {
namespace {

using Maker = std::unique_ptr<ResidualMethod> (*)(const spec::Settings&,
                                                  const MethodSizes&,
                                                  ParameterList&);

template <typename Method>
std::unique_ptr<ResidualMethod> Make(const spec::Settings& settings,
                                     const MethodSizes& sizes,
                                     ParameterList& parameters) {
  return std::make_unique<Method>(settings, sizes, parameters);
}

struct Entry {
  std::string_view name;
  Maker make;
};

constexpr std::array kMethods = {
    Entry{"prenorm", &Make<PreNorm>},
    Entry{"rezero", &Make<ReZero>},
    Entry{"layerscale", &Make<LayerScale>},
    Entry{"block_layerscale", &Make<BlockLayerScale>},
    Entry{"attnres", &Make<AttnRes>},
    Entry{"block_attnres", &Make<BlockAttnRes>},
    Entry{"mhar", &Make<Mhar>},
    Entry{"delta_attnres", &Make<DeltaAttnRes>},
    Entry{"delta_block", &Make<DeltaBlock>},
    Entry{"delta_block_nopartial", &Make<DeltaBlockNoPartial>},
    Entry{"delta_block_repo", &Make<DeltaBlockRepo>},
    Entry{"wav", &Make<Wav>},
    Entry{"haares", &Make<Haares>},
    Entry{"haares_dup", &Make<HaaresDup>},
    Entry{"haares_random", &Make<HaaresRandom>},
    Entry{"haares_fixedbias", &Make<HaaresFixedBias>},
    Entry{"denseformer", &Make<DenseFormer>},
    Entry{"hyper_connections", &Make<HyperConnections>},
    Entry{"mhc", &Make<Mhc>},
    Entry{"deepnorm", &Make<DeepNorm>},
};

const Entry* Find(std::string_view name) {
  const auto* const entry = std::ranges::find(kMethods, name, &Entry::name);
  return entry == kMethods.end() ? nullptr : entry;
}

}  // namespace

std::unique_ptr<ResidualMethod> MakeMethod(const spec::Settings& settings,
                                           const MethodSizes& sizes,
                                           ParameterList& parameters) {
  const Entry* const entry = Find(settings.method());
  TORCH_CHECK(entry != nullptr, "method ", settings.method(),
              " is not there yet");
  return entry->make(settings, sizes, parameters);
}

bool HasMethod(std::string_view name) { return Find(name) != nullptr; }

}  // namespace leadline::model
