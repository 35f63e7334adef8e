// The ways results are printed.

#pragma once

#include <string>

#include "cli/output.h"
#include "cli/results_set.h"

namespace leadline::cli {

enum class ResultsFormat { kTable, kMarkdown, kCsv, kJson };

/// Prints in that format; as JSON whatever it is, if the output is JSON.
void PrintResults(const ResultsSet& results, ResultsFormat format,
                  Output& output);

}  // namespace leadline::cli
