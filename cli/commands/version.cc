#include "cli/version.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands/commands.h"

namespace leadline::cli {

Command VersionCommand() {
  return {"version", "the version of this program",
          "  leadline version --json\n", [](CLI::App&) -> Action {
            return [](Context& context) {
              const std::string version(kVersion);
              if (context.output.json()) {
                context.output.PrintJson(
                    {{"program", "leadline"}, {"version", version}});
              }
              context.output.Print(fmt::format("leadline {}\n", version));
              return absl::OkStatus();
            };
          }};
}

}  // namespace leadline::cli
