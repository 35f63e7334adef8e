#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/numbers.h"
#include "cli/sweep_file.h"

namespace leadline::cli {
namespace {

struct Options {
  std::string sweep;
  bool stop = false;
};

std::string Text(const v1::PauseReply& reply, const Style& style) {
  std::string text = style.Clean(reply.sweep()) + ": ";
  const bool is_paused = reply.state() == "paused";
  if (reply.changed()) {
    text += "paused";
  } else {
    text += fmt::format("0 sweeps paused: it {} {}", is_paused ? "was" : "is",
                        reply.state());
    if (is_paused) text += " already";
  }
  if (!is_paused) return text + "\n";
  text += fmt::format("; {} until leadline resume {}",
                      reply.waiting() == 1
                          ? "1 trial waits"
                          : Grouped(reply.waiting()) + " trials wait",
                      style.Clean(reply.sweep()));
  if (reply.stopping() > 0) {
    text +=
        fmt::format("; {} asked to stop", Counted(reply.stopping(), "trial"));
  }
  if (reply.running() > 0) {
    text += fmt::format("; {} to the end",
                        reply.running() == 1
                            ? "1 trial runs on"
                            : Grouped(reply.running()) + " trials run on");
  }
  return text + "\n";
}

absl::Status Pause(Context& context, const Options& options) {
  const auto connection = context.Connect();
  if (!connection.ok()) return connection.status();
  v1::PauseRequest request;
  request.set_sweep(options.sweep);
  request.set_stop(options.stop);
  request.set_request_id(FreshRequestId());
  const auto reply =
      (*connection)
          ->Ask<v1::PauseReply>(
              [&](grpc::ClientContext* call, v1::PauseReply* answer) {
                return (*connection)->sweeps().Pause(call, request, answer);
              });
  if (!reply.ok()) return reply.status();
  if (context.output.json()) {
    context.output.PrintJson({{"sweep", reply->sweep()},
                              {"state", reply->state()},
                              {"changed", reply->changed()},
                              {"stopping", reply->stopping()},
                              {"running", reply->running()},
                              {"waiting", reply->waiting()}});
  }
  context.output.Print(Text(*reply, context.output.out()));
  return absl::OkStatus();
}

}  // namespace

Command PauseCommand() {
  return {
      "pause", "place nothing more of a sweep until it is resumed",
      "  leadline pause s1                    # what runs goes on to its end\n"
      "  leadline pause s1 --stop             # what runs is asked to stop\n"
      "\n"
      "Trials that were stopped are suspended, no failures: leadline resume "
      "queues them\nagain once their trainers have gone.\n",
      [](CLI::App& app) -> Action {
        auto options = std::make_shared<Options>();
        app.add_option("sweep", options->sweep,
                       "id, or unique prefix of a name")
            ->option_text("SWEEP")
            ->required();
        app.add_flag("--stop", options->stop, "also stop what runs");
        return [options](Context& context) { return Pause(context, *options); };
      }};
}

}  // namespace leadline::cli
