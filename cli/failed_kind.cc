#include "cli/failed_kind.h"

#include <CLI/CLI.hpp>

#include "common/experiment.h"

namespace leadline::cli {
namespace {

std::string Kinds() {
  std::string all;
  for (const FailureKind kind : kFailureKinds) {
    all += (all.empty() ? "" : ", ") + std::string(Name(kind));
  }
  return all;
}

}  // namespace

CLI::Option* AddFailedKind(CLI::App& app, std::string* kind) {
  return app
      .add_option_function<std::string>(
          "--failed-kind",
          [kind](const std::string& name) {
            if (!ParseFailureKind(name)) {
              throw CLI::ValidationError(
                  "--failed-kind",
                  "'" + name + "', expected one of " + Kinds());
            }
            *kind = name;
          },
          "only with an attempt that failed so, whatever came after: " +
              Kinds())
      ->option_text("KIND");
}

}  // namespace leadline::cli
