// Kind model: a whole decoder with given parameters, and all its gradients.

#include "model/decoder.h"
#include "tests/golden/golden_settings.h"
#include "tests/golden/kinds.h"
#include "tests/golden/model_numbers.h"

namespace leadline::golden {

void CheckModel(const GoldenFile& file, torch::ScalarType type, Tally& tally) {
  const int64_t replicas = file.config().at("R").get<int64_t>();
  model::Decoder decoder(SettingsOf(file),
                         file.config().at("vocab").get<int64_t>(),
                         std::vector<int64_t>(replicas, 1), type);
  for (const auto& [name, value] : file.WithPrefix("param.")) {
    decoder.SetParameter(name, value);
  }
  CompareModel(file,
               ModelNumbers(decoder, file.Tensor("in.tokens"),
                            file.Tensor("in.targets")),
               tally);
}

}  // namespace leadline::golden
