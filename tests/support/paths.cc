#include "tests/support/paths.h"

namespace leadline::test {

std::filesystem::path SourceDir() { return LEADLINE_SOURCE_DIR; }

std::filesystem::path BuildDir() { return LEADLINE_BUILD_DIR; }

}  // namespace leadline::test
