#include "cli/submit_sweep.h"

#include <fmt/format.h>

#include "cli/numbers.h"
#include "cli/sweep_file.h"

namespace leadline::cli {

void AddSubmitOptions(CLI::App& app, SubmitOptions* options) {
  app.add_option("file", options->file, "sweep file; - is standard input")
      ->option_text("FILE")
      ->required();
  app.add_flag("--new", options->make_new,
               "make another sweep even if an equal one is there");
  app.add_flag("--yes-really", options->yes_really,
               "accept more than 100,000 trials");
}

absl::StatusOr<v1::SubmitRequest> SubmitRequestOf(
    const SubmitOptions& options) {
  auto request = ReadSweepFile(options.file);
  if (!request.ok()) return request;
  request->set_make_new(options.make_new);
  request->set_yes_really(options.yes_really);
  return request;
}

absl::StatusOr<v1::SubmitReply> SubmitSweep(Connection& connection,
                                            const v1::SubmitRequest& request) {
  return connection.Ask<v1::SubmitReply>(
      [&](grpc::ClientContext* context, v1::SubmitReply* reply) {
        return connection.sweeps().Submit(context, request, reply);
      },
      request.file());
}

std::string SubmittedLine(const v1::SubmitReply& reply, const Style& style) {
  std::string line = fmt::format(
      "{} {}: {}, {}, {}", reply.sweep(), style.Clean(reply.name()),
      reply.existing() ? "there already" : "new",
      Counted(reply.cells(), "cell"), Counted(reply.trials(), "trial"));
  if (reply.duplicates() > 0) {
    line +=
        fmt::format(", {} merged", Counted(reply.duplicates(), "duplicate"));
  }
  return line;
}

}  // namespace leadline::cli
