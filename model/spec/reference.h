// The reference pages of the documentation, written from the tables.

#pragma once

#include <string>

namespace leadline::spec {

/// docs/settings.md
std::string SettingsReference();

/// docs/methods.md
std::string MethodsReference();

}  // namespace leadline::spec
