// What the coordinator serves over HTTP: the rows of the table.

#pragma once

#include <string>
#include <vector>

#include "coordinator/health.h"
#include "coordinator/http/routes.h"
#include "coordinator/metrics/exposition.h"

namespace leadline {

/// All of it outlives the pages.
struct PagesParts {
  const Health& health;
  metrics::Exposition& exposition;
};

std::vector<http::Route> MakePages(PagesParts parts);

/// That of the list included.
std::vector<std::string> PathsOfPages();

}  // namespace leadline
