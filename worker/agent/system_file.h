// Files of the kernel, which may fail at any byte: a process that ends while
// its files are read takes them along.

#pragma once

#include <string>

namespace leadline::agent {

/// What could be read; empty if nothing could.
std::string ReadSystemFile(const std::string& path);

}  // namespace leadline::agent
