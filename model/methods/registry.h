// The methods by name.

#pragma once

#include <memory>
#include <string_view>

#include "model/methods/method.h"
#include "model/parameters.h"
#include "model/spec/settings.h"

namespace leadline::model {

/// Makes the method that `settings` name and declares its parameters. Throws
/// c10::Error if the model does not have it.
std::unique_ptr<ResidualMethod> MakeMethod(const spec::Settings& settings,
                                           const MethodSizes& sizes,
                                           ParameterList& parameters);

/// True if MakeMethod knows the name.
bool HasMethod(std::string_view name);

}  // namespace leadline::model
