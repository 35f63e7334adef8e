// Kind init: initial values from the named streams, to one float32 step.

#include "model/decoder.h"
#include "tests/golden/golden_settings.h"
#include "tests/golden/kinds.h"

namespace leadline::golden {
namespace {

/// Float32 steps between two values of like sign; large when signs differ.
torch::Tensor Steps(const torch::Tensor& a, const torch::Tensor& b) {
  return (a.view(torch::kInt32).to(torch::kInt64) -
          b.view(torch::kInt32).to(torch::kInt64))
      .abs();
}

}  // namespace

void CheckInit(const GoldenFile& file, torch::ScalarType, Tally& tally) {
  const model::Decoder decoder(SettingsOf(file),
                               file.config().at("vocab").get<int64_t>(),
                               SeedsOf(file), torch::kFloat32);
  auto wanted = file.WithPrefix("param.");
  for (const auto* list :
       {&decoder.parameters_in_order(), &decoder.buffers_in_order()}) {
    for (const model::NamedParameter& parameter : *list) {
      const auto want = wanted.extract(parameter.name);
      if (want.empty()) {
        tally.Fail("parameter " + parameter.name + " is too many");
        continue;
      }
      const torch::Tensor got = parameter.tensor.detach();
      if (got.sizes() != want.mapped().sizes()) {
        tally.Fail("shape of " + parameter.name);
      } else if (Steps(got, want.mapped()).max().item<int64_t>() > 1) {
        tally.Fail(parameter.name + " is not within one float32 step");
      } else if (!torch::equal(got, want.mapped())) {
        // Allowed, but shown.
        tally.Absolute(parameter.name, got, want.mapped(), 1e-6);
      }
    }
  }
  for (const auto& [name, tensor] : wanted) {
    tally.Fail("parameter " + name + " is missing");
  }
}

}  // namespace leadline::golden
