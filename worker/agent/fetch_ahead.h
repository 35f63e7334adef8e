// leadline-agent --fetch NAME: data before there is work for it.

#pragma once

#include <string>

#include "worker/agent/data_finder.h"

namespace leadline::agent {

/// Fetches the data set and prints where it lies on standard output, how far it
/// is on standard error; SIGINT, SIGTERM and SIGHUP, which must be blocked, end
/// it. Returns the exit code: 1 if it failed, 2 if there is no such download.
int FetchAhead(const std::string& name, const DataPlaces& places);

}  // namespace leadline::agent
