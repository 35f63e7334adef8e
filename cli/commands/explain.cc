#include <CLI/CLI.hpp>

#include "cli/commands/commands.h"
#include "cli/explanation_view.h"

namespace leadline::cli {
namespace {

absl::Status Explain(Context& context, const std::string& target) {
  const auto connection = context.Connect();
  if (!connection.ok()) return connection.status();
  v1::ExplainRequest request;
  request.set_target(target);
  const auto reply =
      (*connection)
          ->Ask<v1::ExplainReply>(
              [&](grpc::ClientContext* call, v1::ExplainReply* answer) {
                return (*connection)->sweeps().Explain(call, request, answer);
              });
  if (!reply.ok()) return reply.status();
  if (context.output.json()) context.output.PrintJson(ExplanationJson(*reply));
  context.output.Print(RenderExplanation(*reply, context.output.out()));
  return absl::OkStatus();
}

}  // namespace

Command ExplainCommand() {
  return {
      "explain", "why a sweep or trial waits, what was tried, what comes next",
      "  leadline explain s1                  # what its trials wait for, and "
      "why some failed\n"
      "  leadline explain s1.3.0              # every attempt, and when the "
      "next one is\n"
      "  leadline explain s1.3.0 --json\n",
      [](CLI::App& app) -> Action {
        auto target = std::make_shared<std::string>();
        app.add_option("target", *target,
                       "id of a sweep or trial, or unique prefix of a sweep's "
                       "name")
            ->option_text("TARGET")
            ->required();
        return [target](Context& context) { return Explain(context, *target); };
      }};
}

}  // namespace leadline::cli
