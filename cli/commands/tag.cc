#include <CLI/CLI.hpp>

#include "cli/commands/commands.h"
#include "cli/edit_sweep.h"

namespace leadline::cli {
namespace {

struct Options {
  std::string sweep;
  std::vector<std::string> add;
  std::vector<std::string> remove;
};

absl::Status Tag(Context& context, const Options& options) {
  if (options.add.empty() && options.remove.empty()) {
    return absl::InvalidArgumentError(
        "no tag was named: leadline tag SWEEP +TAG, or --remove TAG");
  }
  v1::EditRequest request;
  request.set_sweep(options.sweep);
  for (const auto* tags : {&options.add, &options.remove}) {
    for (const std::string& tag : *tags) {
      size_t bad_byte = 0;
      if (!IsUtf8(tag, &bad_byte)) {
        return absl::InvalidArgumentError("a tag is UTF-8 text");
      }
    }
  }
  for (const std::string& tag : options.add) {
    request.add_add_tags(tag.starts_with('+') ? tag.substr(1) : tag);
  }
  for (const std::string& tag : options.remove) request.add_remove_tags(tag);
  return EditSweep(context, std::move(request));
}

}  // namespace

Command TagCommand() {
  return {"tag", "put tags on a sweep, to find it by",
          "  leadline tag s1 +paper +figure-2\n"
          "  leadline tag s1 +final --remove draft\n"
          "  leadline ls --tag paper\n",
          [](CLI::App& app) -> Action {
            auto options = std::make_shared<Options>();
            app.add_option("sweep", options->sweep,
                           "id, or unique prefix of a sweep's name")
                ->option_text("SWEEP")
                ->required();
            app.add_option("tag", options->add,
                           "to add: up to 64 bytes without blanks and commas")
                ->option_text("[+]TAG...");
            app.add_option("--remove", options->remove, "to take away")
                ->allow_extra_args(false)
                ->option_text("TAG");
            return
                [options](Context& context) { return Tag(context, *options); };
          }};
}

}  // namespace leadline::cli
