// The table of a sweep's results that people read.

#pragma once

#include <string>

#include "cli/results_set.h"
#include "cli/terminal.h"

namespace leadline::cli {

/// A row a data set and method (and a value of every further axis), a column a
/// depth, "mean ± sd (n)"; the floor of each corpus below its rows; the lowest
/// mean of each column of a data set marked with a star where the metric is a
/// loss. An axis that only goes along with depth stands in the column's title.
Table ResultsMatrix(const ResultsSet& results, const Style& style);

/// The same as a row a cell, for windows the matrix is too wide for.
Table ResultsList(const ResultsSet& results, const Style& style);

/// Title, the one of both that fits, what is missing and why, warnings, and
/// where the database is.
std::string RenderResults(const ResultsSet& results, const Style& style);

}  // namespace leadline::cli
