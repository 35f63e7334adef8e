#include "cli/table.h"

#include <algorithm>

namespace leadline::cli {
namespace {

std::vector<size_t> Widths(const Table& table) {
  std::vector<size_t> widths;
  for (const Column& column : table.columns) {
    widths.push_back(DisplayWidth(column.title));
  }
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < std::min(row.size(), widths.size()); ++i) {
      widths[i] = std::max(widths[i], DisplayWidth(row[i]));
    }
  }
  return widths;
}

std::string Line(const std::vector<std::string>& cells, const Table& table,
                 const std::vector<size_t>& widths) {
  std::string line;
  for (size_t i = 0; i < std::min(cells.size(), widths.size()); ++i) {
    if (i > 0) line += "  ";
    line += table.columns[i].align == Align::kRight
                ? PadLeft(cells[i], widths[i])
                : PadRight(cells[i], widths[i]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::vector<std::string> Titles(const Table& table) {
  std::vector<std::string> titles;
  for (const Column& column : table.columns) titles.push_back(column.title);
  return titles;
}

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string CsvLine(const std::vector<std::string>& cells, size_t columns) {
  std::string line;
  for (size_t i = 0; i < columns; ++i) {
    if (i > 0) line += ',';
    if (i < cells.size()) line += CsvField(cells[i]);
  }
  return line + "\n";
}

std::string MarkdownField(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string MarkdownLine(const std::vector<std::string>& cells,
                         size_t columns) {
  std::string line = "|";
  for (size_t i = 0; i < columns; ++i) {
    line += " " + (i < cells.size() ? MarkdownField(cells[i]) : "") + " |";
  }
  return line + "\n";
}

}  // namespace

std::string Render(const Table& table, const Style& style) {
  const std::vector<size_t> widths = Widths(table);
  std::string out = style.Bold(Line(Titles(table), table, widths)) + "\n";
  for (const auto& row : table.rows) out += Line(row, table, widths) + "\n";
  return out;
}

size_t RenderedWidth(const Table& table) {
  size_t sum = 0;
  for (const size_t width : Widths(table)) sum += width + 2;
  return sum > 2 ? sum - 2 : 0;
}

std::string RenderCsv(const Table& table) {
  std::string out = CsvLine(Titles(table), table.columns.size());
  for (const auto& row : table.rows) {
    out += CsvLine(row, table.columns.size());
  }
  return out;
}

std::string RenderMarkdown(const Table& table) {
  std::string out = MarkdownLine(Titles(table), table.columns.size()) + "|";
  for (const Column& column : table.columns) {
    out += column.align == Align::kRight ? " ---: |" : " --- |";
  }
  out += "\n";
  for (const auto& row : table.rows) {
    out += MarkdownLine(row, table.columns.size());
  }
  return out;
}

}  // namespace leadline::cli
