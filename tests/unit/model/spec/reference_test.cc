// The committed pages are those the tables give. With LEADLINE_UPDATE_DOCS set
// they are written anew.

#include "model/spec/reference.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

namespace leadline::spec {
namespace {

void ExpectPage(const std::string& name, const std::string& wanted) {
  const std::string path = LEADLINE_SOURCE_DIR "/docs/" + name;
  if (std::getenv("LEADLINE_UPDATE_DOCS")) std::ofstream(path) << wanted;
  std::ifstream file(path);
  std::ostringstream page;
  page << file.rdbuf();
  EXPECT_EQ(page.str(), wanted)
      << "LEADLINE_UPDATE_DOCS=1 build/tests/spec_test writes docs/" << name;
}

TEST(Reference, SettingsPageIsCommitted) {
  ExpectPage("settings.md", SettingsReference());
}

TEST(Reference, MethodsPageIsCommitted) {
  ExpectPage("methods.md", MethodsReference());
}

TEST(Reference, NoCellBreaksItsTable) {
  std::istringstream page(SettingsReference());
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("|")) continue;
    EXPECT_EQ(std::ranges::count(line, '|'), 7) << line;
  }
}

}  // namespace
}  // namespace leadline::spec
