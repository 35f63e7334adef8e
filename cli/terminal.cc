#include "cli/terminal.h"

#include <cstdlib>
#include <cstring>

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace leadline::cli {
namespace {

std::string_view Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

size_t WindowWidth(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  return 80;
}

}  // namespace

std::string_view Style::plus_minus() const { return utf8() ? "±" : "+/-"; }

std::string_view Style::nothing() const { return utf8() ? "—" : "-"; }

std::string Style::Clean(std::string_view text) const {
  return Printable(text, charset);
}

std::string Style::Bold(std::string_view text) const {
  if (!colours) return std::string(text);
  return "\x1b[1m" + std::string(text) + "\x1b[0m";
}

std::string Style::Dim(std::string_view text) const {
  if (!colours) return std::string(text);
  return "\x1b[2m" + std::string(text) + "\x1b[0m";
}

Style StyleOf(int descriptor) {
  Style style;
  if (std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0) {
    style.charset = Charset::kUtf8;
  }
  const std::string_view term = Variable("TERM");
  if (isatty(descriptor) == 0 || term == "dumb" || term.empty()) return style;
  style.is_terminal = true;
  style.width = WindowWidth(descriptor);
  style.colours = Variable("NO_COLOR").empty();
  style.many_colours =
      style.colours && (term.find("256color") != std::string_view::npos ||
                        !Variable("COLORTERM").empty());
  return style;
}

}  // namespace leadline::cli
