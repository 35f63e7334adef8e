#include "common/text8_filter.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands/commands.h"
#include "cli/descriptor.h"
#include "cli/exit_code.h"
#include "errors/error_code.h"

namespace leadline::cli {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 20U;

struct Arguments {
  std::string file;
  bool plain = false;
};

absl::Status CannotRead(const std::string& file) {
  return At(absl::InternalError(fmt::format(
                "cannot read {}: {}", file.empty() ? "standard input" : file,
                std::strerror(errno))),
            file);
}

/// Passes on `descriptor` to its end; `take` says whether to go on.
template <typename Take>
absl::Status ReadPieces(int descriptor, const std::string& file, Take take) {
  std::vector<char> piece(kPieceBytes);
  for (;;) {
    const ssize_t count = read(descriptor, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return CannotRead(file);
    if (count == 0) return absl::OkStatus();
    const absl::Status taken =
        take(std::string_view(piece.data(), static_cast<size_t>(count)));
    if (!taken.ok()) return taken;
  }
}

absl::Status Plain(Context& context, int descriptor, const std::string& file) {
  PlainTextFilter filter;
  std::string out;
  return ReadPieces(descriptor, file, [&](std::string_view bytes) {
    out.clear();
    filter.Add(bytes, out);
    context.output.Raw(out);
    return absl::OkStatus();
  });
}

absl::Status Wikipedia(Context& context, int descriptor,
                       const std::string& file) {
  Text8Filter filter;
  std::string out;
  absl::Status read = ReadPieces(descriptor, file, [&](std::string_view bytes) {
    out.clear();
    const bool fits = filter.Add(bytes, out);
    context.output.Raw(out);
    return fits ? absl::OkStatus()
                : absl::InvalidArgumentError(fmt::format(
                      "{} has more than {} bytes without a '>': it is no "
                      "Wikipedia XML; --plain takes plain text",
                      file.empty() ? "standard input" : file,
                      Text8Filter::kMostRecordBytes));
  });
  if (!read.ok()) return WithError(std::move(read), ErrorCode::kFile);
  out.clear();
  filter.Finish(out);
  context.output.Raw(out);
  return absl::OkStatus();
}

absl::Status Filter(Context& context, const Arguments& arguments) {
  if (context.output.json()) {
    return WithError(
        absl::InvalidArgumentError("text8-filter writes a text, no JSON"),
        ErrorCode::kMisuse);
  }
  const bool is_standard = arguments.file.empty() || arguments.file == "-";
  const std::string file = is_standard ? "" : arguments.file;
  const Descriptor opened(
      is_standard ? -1 : open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!is_standard && opened.number() < 0) return CannotRead(file);
  const int descriptor = is_standard ? STDIN_FILENO : opened.number();
  return arguments.plain ? Plain(context, descriptor, file)
                         : Wikipedia(context, descriptor, file);
}

}  // namespace

Command Text8FilterCommand() {
  return {"text8-filter", "make text in the style of text8: a to z and space",
          "  leadline text8-filter < enwiki.xml > corpus.txt\n"
          "  leadline text8-filter --plain book.txt > corpus.txt\n",
          [](CLI::App& app) -> Action {
            auto arguments = std::make_shared<Arguments>();
            app.add_option("file", arguments->file,
                           "Wikipedia XML; default: standard input")
                ->option_text("FILE");
            app.add_flag("--plain", arguments->plain,
                         "the input is plain text: no markup is looked for");
            return [arguments](Context& context) {
              return Filter(context, *arguments);
            };
          }};
}

}  // namespace leadline::cli
