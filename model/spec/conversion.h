// Turning a prenorm model into a routed one that computes the same.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/spec/settings.h"

namespace leadline::spec {

/// Names of the methods that compute what prenorm does while their queries are
/// zero, so that a trained prenorm model can become one of them.
std::vector<std::string_view> ConversionTargets();

/// The settings of a prenorm model under another method: its own, with
/// `options` of that method, and eps_mode compensated unless that is given too.
/// Errors where the method is no target, an option is none of the method, or
/// logits would change.
Resolution ConvertSettings(const Settings& prenorm, std::string_view method,
                           const GivenSettings& options);

/// A parameter that the conversion adds, all of one value.
struct AddedParameter {
  std::string name;
  std::vector<int64_t> sizes;  // without the axis of replicas
  double value = 0;
};

/// What the method of converted settings adds, in the order of the model.
std::vector<AddedParameter> AddedParameters(const Settings& converted);

}  // namespace leadline::spec
