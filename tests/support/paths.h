// Where tests find their data and the programs under test.

#pragma once

#include <filesystem>

namespace leadline::test {

/// The checkout the tests were built from; test data lies in tests/data.
std::filesystem::path SourceDir();

/// The build folder; the four programs lie in it.
std::filesystem::path BuildDir();

}  // namespace leadline::test
