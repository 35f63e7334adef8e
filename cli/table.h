// Tables of text, for people and for other programs.

#pragma once

#include <string>
#include <vector>

#include "cli/terminal.h"

namespace leadline::cli {

enum class Align { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kLeft;
};

/// Rows of cells already fit for their channel. A row shorter than the columns
/// ends early; a longer one is cut.
struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
};

/// Columns two blanks apart, aligned by display width, the titles first (bold
/// where the style has colours). No blanks at line ends.
std::string Render(const Table& table, const Style& style);

/// Widest line of Render.
size_t RenderedWidth(const Table& table);

/// RFC 4180 with LF line ends.
std::string RenderCsv(const Table& table);

/// A pipe table; "|" and backslashes are escaped.
std::string RenderMarkdown(const Table& table);

}  // namespace leadline::cli
