#include "worker/trainer/strict_json.h"

namespace leadline::trainer {

Json ParseStrictJson(std::string_view text) {
  try {
    return leadline::ParseStrictJson(text, {.what = "the configuration"});
  } catch (const JsonError& error) {
    throw ConfigError(error.what());
  }
}

}  // namespace leadline::trainer
