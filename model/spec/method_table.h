// The table of methods: what each is called, computes and adds.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/spec/method_costs.h"
#include "model/spec/method_memory.h"
#include "model/spec/settings.h"

namespace leadline::spec {

/// How a method stands to a trained prenorm model of the same sizes.
enum class Conversion {
  kNone,       // it computes something else
  kReplacing,  // the same while its queries are zero: 2L+1 routers
  kAdding,     // likewise: 2L routers, none before the final norm
};

struct MethodInfo {
  std::string_view name;
  std::string_view summary;                  // one line
  std::string_view formula;                  // ASCII, several lines
  std::string_view reference;                // arXiv ids
  std::string_view added_parameters;         // "4LD + 2D"
  std::string_view equals_prenorm_at_start;  // "yes", "no (detail mass 0.16)"
  /// What it costs; `settings` are resolved ones of that method.
  MethodCost (*cost)(const Settings& settings) = nullptr;
  /// What it keeps during a training step; likewise. Unless said, what plain
  /// residuals keep.
  MethodMemory (*memory)(const Settings& settings) = &PreNormMemory;
  Conversion conversion = Conversion::kNone;
  /// What is said beside every result of the method, after "NAME is": "our
  /// reading: ...". Mostly empty.
  std::string_view caveat = {};
};

/// In the order of listings.
std::span<const MethodInfo> MethodTable();

/// Null unless there is such a method.
const MethodInfo* FindMethod(std::string_view name);

/// Keys of the settings table that are this method's own options.
std::vector<const SettingInfo*> OptionsOf(std::string_view method);

}  // namespace leadline::spec
