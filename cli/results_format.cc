#include "cli/results_format.h"

#include "cli/results_table.h"

namespace leadline::cli {

void PrintResults(const ResultsSet& results, ResultsFormat format,
                  Output& output) {
  if (output.json()) format = ResultsFormat::kJson;
  // A file for another program keeps its characters, whatever the terminal.
  Style plain;
  plain.charset = Charset::kUtf8;
  switch (format) {
    case ResultsFormat::kTable:
      return output.Print(RenderResults(results, output.out()));
    case ResultsFormat::kMarkdown:
      return output.Print(RenderMarkdown(ResultsMatrix(results, plain)));
    case ResultsFormat::kCsv:
      return output.Print(RenderCsv(ResultsRows(results)));
    case ResultsFormat::kJson:
      return output.PrintJson(ResultsJson(results));
  }
}

}  // namespace leadline::cli
