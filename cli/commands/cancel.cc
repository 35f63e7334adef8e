#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/numbers.h"
#include "cli/sweep_file.h"

namespace leadline::cli {
namespace {

absl::Status Cancel(Context& context, const std::string& target) {
  const auto connection = context.Connect();
  if (!connection.ok()) return connection.status();
  v1::CancelRequest request;
  request.set_target(target);
  request.set_request_id(FreshRequestId());
  const auto reply =
      (*connection)
          ->Ask<v1::CancelReply>(
              [&](grpc::ClientContext* call, v1::CancelReply* answer) {
                return (*connection)->sweeps().Cancel(call, request, answer);
              });
  if (!reply.ok()) return reply.status();
  if (context.output.json()) {
    context.output.PrintJson(
        {{"target", reply->target()}, {"cancelled", reply->cancelled()}});
  }
  const std::string all_ended =
      reply->cancelled() == 0 ? ": all had ended before" : "";
  context.output.Print(fmt::format(
      "{}: {} cancelled{}\n", context.output.out().Clean(reply->target()),
      Counted(reply->cancelled(), "trial"), all_ended));
  return absl::OkStatus();
}

}  // namespace

Command CancelCommand() {
  return {
      "cancel", "end what has not ended of a sweep, cell or trial",
      "  leadline cancel s1\n"
      "  leadline cancel s1.3.0\n",
      [](CLI::App& app) -> Action {
        auto target = std::make_shared<std::string>();
        app.add_option("target", *target,
                       "id of a sweep, cell or trial, or unique prefix of a "
                       "sweep's name")
            ->option_text("TARGET")
            ->required();
        return [target](Context& context) { return Cancel(context, *target); };
      }};
}

}  // namespace leadline::cli
