// docs/commands.md is what --help says. LEADLINE_UPDATE_DOCS=1 writes it anew.

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "program.h"

namespace leadline::cli_test {
namespace {

constexpr char kPage[] = LEADLINE_SOURCE_DIR "/docs/commands.md";

std::string Help(std::vector<std::string> arguments) {
  arguments.push_back("--help");
  Program program(std::move(arguments), {});
  return program.Wait().out;
}

// The names below "Commands:" of the program's help.
std::vector<std::string> CommandNames(const std::string& help) {
  std::istringstream lines(help.substr(help.find("Commands:\n")));
  std::vector<std::string> names;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && line.starts_with("  ")) {
    names.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return names;
}

std::string Page() {
  const std::string help = Help({});
  std::string page =
      "# Commands\n\n<!-- Written from --help; do not edit. "
      "LEADLINE_UPDATE_DOCS=1 build/tests/cli_integration_test "
      "--gtest_filter=Docs.* writes it anew. -->\n\n```\n" +
      help + "```\n";
  for (const std::string& name : CommandNames(help)) {
    page += "\n## " + name + "\n\n```\n" + Help({name}) + "```\n";
  }
  return page;
}

TEST(Docs, OfTheCommandsAreWhatHelpSays) {
  const std::string page = Page();
  EXPECT_NE(page.find("\n## cancel\n"), std::string::npos);
  if (std::getenv("LEADLINE_UPDATE_DOCS") != nullptr) {
    std::ofstream(kPage) << page;
  }
  std::ifstream file(kPage);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), page);
}

}  // namespace
}  // namespace leadline::cli_test
